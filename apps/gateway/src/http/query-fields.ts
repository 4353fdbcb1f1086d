import { z } from 'zod';
import { timeShape } from '@dak/contracts/requests';
import { MAX_PER_PAGE } from '@dak/platform/paging';

/** Integer in a query string: digits only, so that `1e3`, ` 5` and `0x10` are refused. */
export function queryInteger(minimum: number, maximum: number): z.ZodType<number, string> {
  const sentence = `must be an integer from ${minimum} to ${maximum}.`;
  return z
    .string()
    .regex(/^-?\d{1,15}$/, sentence)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, sentence)
    .meta({ type: 'integer', minimum, maximum });
}

/** `true` or `false`. */
export function queryBoolean(): z.ZodType<boolean, string> {
  return z
    .string()
    .regex(/^(true|false)$/, 'must be true or false.')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean' });
}

/** RFC 3339 date-time; the value stays text. */
export function queryTime(): z.ZodType<string, string> {
  return timeShape;
}

/** The offset still fits a 32-bit integer, which is what services count in; far beyond any list. */
const MAX_PAGE = 10_000_000;

/** `page`, `per_page` and `cursor` of every list: spread it into the query schema of the route. */
export const pageFields = {
  page: queryInteger(1, MAX_PAGE).optional().meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    description: 'Page number, starting at 1. Cannot be combined with cursor.',
  }),
  per_page: queryInteger(1, MAX_PER_PAGE).optional().meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PER_PAGE,
    default: 25,
    description: 'Rows per page.',
  }),
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .meta({ description: 'next_cursor of the previous page; stable while records are added.' }),
};

/** Path parameters `{id}`; a value that is no id is a miss (404). */
export const idParams = z.object({ id: z.uuid() });

/** The page envelope around a record. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    page: z.int().min(1),
    per_page: z.int().min(1).max(MAX_PER_PAGE),
    total: z.int().min(0),
    total_pages: z.int().min(0),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    total_is_estimate: z.literal(true).optional(),
  });
}
