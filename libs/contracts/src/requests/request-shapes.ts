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

/** RFC 3339 with any offset, as it came; in UTC a year that PostgreSQL and RFC 3339 have. */
export const timeShape = z.iso.datetime({ offset: true }).refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9999;
}, 'must be in the years 1 to 9999.');

/** RFC 3339 with any offset; becomes UTC. */
export const utcTime = timeShape
  .transform((text) => new Date(text).toISOString())
  .meta({ description: 'RFC 3339' });

/** Without line breaks and other control characters, and without the white space around it. */
export const lineShape = (max: number, sentence = `must be one line of 1 to ${max} characters.`) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text) && text.isWellFormed(), sentence);

/** The name of a person, a key, a department or an organization. */
export const nameShape = lineShape(200, 'must not hold line breaks or control characters.');

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

/** Text of several lines. */
export const linesShape = (max: number) =>
  z
    .string()
    .max(max)
    .refine(
      (text) => !/[^\P{Cc}\t\n\r]/u.test(text) && text.isWellFormed(),
      'must not hold control characters.',
    );

/** Compared without regard to case; stored in lower case. */
export const emailShape = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ format: 'email' });

/** NIST SP 800-63B §3.1.1.2: length counts, composition rules do not. */
export const passwordShape = z.string().min(10).max(200);

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

/**
 * Counts before the schema reads: a body of 10 MB can have a million members, each with a fault of its own, and the
 * sentences would take 10 seconds. Lists with a `max` do not need it.
 */
export const fewMembers = <Schema extends z.ZodType>(max: number, schema: Schema) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'object' || value === null) return value;
    const [count, noun] = Array.isArray(value)
      ? [value.length, 'elements']
      : [Object.keys(value).length, 'keys'];
    if (count <= max) return value;
    context.addIssue({ code: 'custom', message: `must have at most ${max} ${noun}.` });
    return z.NEVER;
  }, schema);

/** Whether it has at most `max` bytes as JSON; what is nested deeper than can be written has not. */
export function fitsJson(value: unknown, max: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= max;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** A merge patch (RFC 7396) of a record's metadata: null removes a key. */
export const metadataPatch = fewMembers(
  MAX_METADATA_KEYS,
  z.record(
    z.string().min(1).max(128),
    z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]),
  ),
).meta({ description: 'At most 64 keys. Merge patch: a key that is null is removed.' });

/** An object inside a request that may have no other members: a mistyped one must not be left out in silence. */
export function closedShape<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `.${issue.keys[0]!.slice(0, 80)} is not a member of it: use ${Object.keys(shape).join(', ')}.`
        : undefined,
  });
}
