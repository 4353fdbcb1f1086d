import type { RuleOperator } from '@dak/contracts/api';

/** What sort of value a field has, which decides about its operators. */
export type FieldType = 'text' | 'number' | 'boolean' | 'choice';

export interface Field {
  readonly type: FieldType;
  /** The values that a `choice` can have; null = any word. */
  readonly choices: readonly string[] | null;
  /** A mail can lack it, so that `exists` asks something. */
  readonly optional: boolean;
  /** Bounds of a `number`. */
  readonly min?: number;
  readonly max?: number;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const text: Field = { type: 'text', choices: null, optional: true };
const flag: Field = { type: 'boolean', choices: null, optional: false };

const FIELDS: Readonly<Record<string, Field>> = {
  from: text,
  to: text,
  cc: text,
  recipient: text,
  subject: text,
  body: text,
  attachment_name: text,
  attachment_type: text,
  has_attachment: flag,
  size_bytes: { type: 'number', choices: null, optional: false, min: 0, max: 2 ** 40 },
  kind: {
    type: 'choice',
    choices: ['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn'],
    optional: false,
  },
  label: text,
  // RFC 8601 §2.7 leaves the list of results open.
  spf: { type: 'choice', choices: null, optional: true },
  dkim: { type: 'choice', choices: null, optional: true },
  dmarc: { type: 'choice', choices: null, optional: true },
  first_contact: flag,
  language: { type: 'choice', choices: null, optional: true },
  received_at_hour: { type: 'number', choices: null, optional: false, min: 0, max: 23 },
  received_on_weekday: { type: 'choice', choices: WEEKDAYS, optional: false },
};

const HEADER = /^header:([!-9;-~]{1,76})$/;

/** The name of the header field that `field` means, in lower case (RFC 5322 §3.6.8); null for other fields. */
export function headerNameOf(field: string): string | null {
  return HEADER.exec(field)?.[1]?.toLowerCase() ?? null;
}

/** Null for a field that there is not. */
export function fieldOf(name: string): Field | null {
  if (headerNameOf(name) !== null) return text;
  return Object.hasOwn(FIELDS, name) ? FIELDS[name]! : null;
}

const OPERATORS: Readonly<Record<FieldType, readonly RuleOperator[]>> = {
  text: ['equals', 'contains', 'starts_with', 'ends_with', 'matches', 'in', 'exists'],
  choice: ['equals', 'in', 'exists'],
  number: ['equals', 'in', 'greater_than', 'less_than'],
  boolean: ['equals', 'exists'],
};

export function operatorsOf(field: Field): readonly RuleOperator[] {
  const all = OPERATORS[field.type];
  return field.optional || field.type === 'boolean'
    ? all
    : all.filter((operator) => operator !== 'exists');
}
