import { z } from 'zod';
import { WEEKDAYS } from '../record-shapes';

export const RULE_OPERATORS = [
  'equals',
  'contains',
  'starts_with',
  'ends_with',
  'matches',
  'in',
  'greater_than',
  'less_than',
  'exists',
] as const;

export type RuleOperator = (typeof RULE_OPERATORS)[number];

/** The sort of values that a field has, which decides about its operators. */
export type RuleFieldType = 'text' | 'number' | 'boolean' | 'choice';

export interface RuleFieldShape {
  readonly type: RuleFieldType;
  /** The values that a `choice` can have; absent = any word. */
  readonly choices?: readonly string[];
  /** A mail can lack it, so that `exists` asks something. */
  readonly optional?: true;
  /** Bounds of a `number`, both included. */
  readonly min?: number;
  readonly max?: number;
}

const text = { type: 'text', optional: true } as const;
const flag = { type: 'boolean' } as const;
// RFC 8601 §2.7 leaves the list of results open.
const word = { type: 'choice', optional: true } as const;

const FIELDS = {
  from: text,
  to: text,
  cc: text,
  recipient: text,
  subject: text,
  body: text,
  attachment_name: text,
  attachment_type: text,
  has_attachment: flag,
  size_bytes: { type: 'number', min: 0, max: 2 ** 40 },
  kind: { type: 'choice', choices: ['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn'] },
  label: text,
  spf: word,
  dkim: word,
  dmarc: word,
  first_contact: flag,
  language: word,
  received_at_hour: { type: 'number', min: 0, max: 23 },
  received_on_weekday: { type: 'choice', choices: WEEKDAYS },
} as const satisfies Record<string, RuleFieldShape>;

export type RuleField = keyof typeof FIELDS;

/** Without `header:<Name>`, which stands for any header field. */
export const RULE_FIELDS = Object.keys(FIELDS) as RuleField[];

const HEADER = /^header:([!-9;-~]{1,76})$/;

/** The name of the header field that `field` means, in lower case (RFC 5322 §3.6.8); null for other fields. */
export function headerNameOf(field: string): string | null {
  return HEADER.exec(field)?.[1]?.toLowerCase() ?? null;
}

/** Null for an unknown field. */
export function fieldShapeOf(field: string): RuleFieldShape | null {
  if (headerNameOf(field) !== null) return text;
  return Object.hasOwn(FIELDS, field) ? FIELDS[field as RuleField] : null;
}

const OPERATORS: Readonly<Record<RuleFieldType, readonly RuleOperator[]>> = {
  text: ['equals', 'contains', 'starts_with', 'ends_with', 'matches', 'in', 'exists'],
  choice: ['equals', 'in', 'exists'],
  number: ['equals', 'in', 'greater_than', 'less_than'],
  boolean: ['equals', 'exists'],
};

export function operatorsOf({ type, optional }: RuleFieldShape): readonly RuleOperator[] {
  return optional === true || type === 'boolean'
    ? OPERATORS[type]
    : OPERATORS[type].filter((operator) => operator !== 'exists');
}

const MAX_TEXT = 1_000;

/** One value that a condition compares the field with. */
export function valueShapeOf({
  type,
  choices,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
}: RuleFieldShape): z.ZodType<string | number | boolean> {
  switch (type) {
    case 'boolean':
      return z.boolean('must be true or false.');
    case 'number': {
      const sentence = `must be an integer from ${min} to ${max}.`;
      return z.int(sentence).min(min, sentence).max(max, sentence);
    }
    case 'choice':
    case 'text':
      return textValue(choices);
  }
}

function textValue(choices: readonly string[] | undefined) {
  const sentence = `must be a text of 1 to ${MAX_TEXT} characters.`;
  const value = z
    .string(sentence)
    .min(1, sentence)
    .max(MAX_TEXT, sentence)
    .refine(
      (one) => !one.includes('\0') && one.isWellFormed(),
      'holds characters that no text has: remove them.',
    );
  if (choices === undefined) return value;
  return value
    .overwrite((one) => (choices.includes(one.toLowerCase()) ? one.toLowerCase() : one))
    .refine((one) => choices.includes(one), `must be one of ${choices.join(', ')}.`);
}
