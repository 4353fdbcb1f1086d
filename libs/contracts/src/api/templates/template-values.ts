import { z } from 'zod';
import { fewMembers, textShape } from '../../requests';
import type { TemplateVariableType } from './template-records';

const MAX_TEXT = 64 * 1024;
const MAX_ITEMS = 1000;
const MAX_ITEM_FIELDS = 50;
const URL_SCHEMES = ['http:', 'https:', 'mailto:'];

/** RFC 3339 §5.6: full-date, or date-time. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

export const TEMPLATE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const text = textShape.max(MAX_TEXT);
const scalar = z.union([text, z.number(), z.boolean(), z.null()]);
const fields = fewMembers(MAX_ITEM_FIELDS, z.record(z.string().regex(TEMPLATE_NAME), scalar));
const item = z.union([scalar, fields]);
/** Ends at the first fault: thousands, each with two of a union, would take seconds. */
const list = z
  .array(z.unknown())
  .max(MAX_ITEMS)
  .transform((given, context) => {
    const items: TemplateListItem[] = [];
    for (const one of given) {
      const read = item.safeParse(one);
      if (!read.success) {
        context.addIssue({ code: 'custom' });
        return z.NEVER;
      }
      items.push(read.data);
    }
    return items;
  });

export type TemplateScalar = z.output<typeof scalar>;
export type TemplateListItem = z.output<typeof item>;
export type TemplateValue = TemplateScalar | z.output<typeof list>;

interface ValueShape {
  readonly shape: z.ZodType<TemplateValue>;
  /** Reads on after "must be". */
  readonly expected: string;
}

/** The values that a variable of each type takes. */
export const TEMPLATE_VALUES: Readonly<Record<TemplateVariableType, ValueShape>> = {
  string: { shape: text, expected: `a text of at most ${MAX_TEXT} characters` },
  number: { shape: z.number(), expected: 'a finite number' },
  boolean: { shape: z.boolean(), expected: 'true or false' },
  date: {
    shape: z.string().refine(isDate),
    expected: 'a date such as 2027-01-31, or an RFC 3339 date-time such as 2027-01-31T09:00:00Z',
  },
  url: {
    shape: z.string().refine(isUrl),
    expected: 'an absolute address that begins with https:, http: or mailto:',
  },
  list: {
    shape: list,
    expected: `an array of at most ${MAX_ITEMS} texts, numbers, booleans or flat objects of these`,
  },
};

function isDate(text: string): boolean {
  if (!DATE.test(text) || Number.isNaN(Date.parse(text))) return false;
  // Date.parse takes 31 February for the third of March.
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year!, month! - 1, day));
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
}

/** Only what stays one address in a header, a text and an attribute: no blanks, no control characters. */
function isUrl(text: string): boolean {
  if (text.length > 2048 || /[\s\p{Cc}<>"]/u.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && URL_SCHEMES.includes(url.protocol);
}
