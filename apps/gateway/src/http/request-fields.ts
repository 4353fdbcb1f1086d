import { z } from 'zod';

const MAX_METADATA_KEYS = 64;

/** RFC 3339 with any offset; becomes UTC. */
export const utcTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .meta({ description: 'RFC 3339' });

/** A merge patch (RFC 7396) of a record's metadata: null removes a key. */
export const metadataPatch = z
  .record(
    z.string().min(1).max(128),
    z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]),
  )
  .refine(
    (patch) => Object.keys(patch).length <= MAX_METADATA_KEYS,
    `must have at most ${MAX_METADATA_KEYS} keys.`,
  )
  .meta({ description: 'At most 64 keys. Merge patch: a key that is null is removed.' });

/** Which fields of `shape` a body has, null included, by their API names. */
export function sentFields(shape: object, body: object): string[] {
  const sent = new Map<string, unknown>(Object.entries(body));
  return Object.keys(shape).filter((name) => sent.get(name) !== undefined);
}

/** An object as a service takes it; empty bytes stand for an absent one. */
export function jsonField(value: object | undefined): Buffer {
  return value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value));
}
