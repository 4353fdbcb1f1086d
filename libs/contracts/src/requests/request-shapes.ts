import type { ErrorCode } from '@dak/kernel';
import { z } from 'zod';
import { fault } from './parse-request';

export const MAX_METADATA_KEYS = 64;

/** In lower case, as ids are stored. */
export const idShape = z.uuid().toLowerCase();

/** Each id once. */
export const idListShape = (max: number) =>
  z
    .array(idShape)
    .max(max)
    .overwrite((ids) => [...new Set(ids)]);

/** RFC 3339 with any offset; becomes UTC. */
export const utcTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .meta({ description: 'RFC 3339' });

/** Without line breaks and other control characters, and without the white space around it. */
export const lineShape = (max: number) => {
  const sentence = `must be one line of 1 to ${max} characters.`;
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), sentence);
};

/** Without U+0000 and halves of surrogate pairs, which the database cannot hold. */
export const textShape = z.string().overwrite((text) => text.toWellFormed().replaceAll('\0', ''));

/**
 * A {@link textShape} with a limit in bytes of UTF-8.
 * @param hint what to do instead, as a sentence
 */
export const longTextShape = (maxBytes: number, code: ErrorCode<'too_large'>, hint: string) =>
  textShape.refine(
    (text) => text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes,
    fault<'too_large'>(code, `must not be larger than ${maxBytes} bytes. ${hint}`, 'too_large'),
  );

/** A name of the IANA time zone database, not an offset: PostgreSQL reads the sign of offsets the other way round (POSIX). */
export const timeZoneShape = z
  .string()
  .refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata.')
  .meta({ description: 'IANA name', examples: ['Asia/Kolkata'] });

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

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

/** An object inside a request that may have no other members: a mistyped one must not be left out in silence. */
export function closedShape<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `.${issue.keys[0]!.slice(0, 80)} is not a member of it: use ${Object.keys(shape).join(', ')}.`
        : undefined,
  });
}
