import type { AddressRecord, MessageRecord, RuleField, RuleOperator } from '@dak/contracts/api';
import { addresses, localTime, plain, recipients, texts, WEEKDAYS } from './field-values';
import type { FieldValue } from './field-values';
import type { RuleDefinition } from './rule';

/** A received message as rules look at it. */
export interface RuleMessage {
  readonly id: string;
  readonly mailboxId: string;
  readonly mailboxAddress: string;
  /** IANA name: that of the mailbox, else of the organization. */
  readonly timeZone: string;
  readonly conversationId: string;
  readonly kind: NonNullable<MessageRecord['kind']>;
  readonly from: AddressRecord | null;
  readonly to: readonly AddressRecord[];
  readonly cc: readonly AddressRecord[];
  readonly replyTo: readonly AddressRecord[];
  readonly subject: string;
  /** What the author wrote now, and the whole; bounded. Null where no rule asks for it. */
  readonly textNew: string | null;
  readonly text: string | null;
  readonly attachments: readonly { readonly filename: string; readonly contentType: string }[];
  readonly sizeBytes: number;
  readonly authentication: MessageRecord['authentication'];
  /** False where an automatic answer could loop or annoy (RFC 3834 §2). */
  readonly mayAutoReply: boolean;
  /** MAIL FROM:<>: nobody takes an answer (RFC 5321 §4.5.5). */
  readonly hasEmptyReversePath: boolean;
  readonly listMail: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly isFirstContact: boolean;
  /** ISO 639-1; null when it cannot be told, or no rule asks. */
  readonly language: string | null;
  /** Decoded values by lower-case name; empty where no rule asks for any. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly messageIdHeader: string | null;
}

/** What has to be read beyond the row of the message, where a rule asks for it. */
const FACTS = ['text', 'language', 'headers', 'attachments'] as const;
type Fact = (typeof FACTS)[number];
export type NeededFacts = Readonly<Record<Fact, boolean>>;

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
  readonly needs?: readonly Fact[];
  /**
   * All values of the field: one of them has to satisfy a condition. None for what the mail lacks.
   * @param labels of the conversation, as earlier rules have left them
   */
  readonly values: (message: RuleMessage, labels: readonly string[]) => FieldValue[];
}

const text = { type: 'text', choices: null, optional: true } as const;
const flag = { type: 'boolean', choices: null, optional: false } as const;
// RFC 8601 §2.7 leaves the list of results open.
const word = { type: 'choice', choices: null, optional: true } as const;

/** Everything there is to know about each field. */
const FIELDS: Readonly<Record<RuleField, Field>> = {
  from: { ...text, values: ({ from }) => addresses(from === null ? [] : [from]) },
  to: { ...text, values: ({ to }) => addresses(to) },
  cc: { ...text, values: ({ cc }) => addresses(cc) },
  recipient: {
    ...text,
    needs: ['headers'],
    values: ({ mailboxAddress, headers, to, cc }) =>
      texts(recipients(mailboxAddress, headers.get('received')?.[0], [...to, ...cc])),
  },
  subject: { ...text, values: ({ subject }) => texts(subject === '' ? [] : [subject]) },
  body: {
    ...text,
    needs: ['text'],
    values: ({ textNew, text: whole }) =>
      texts([...new Set([textNew ?? '', whole ?? ''])].filter((each) => each !== '')),
  },
  attachment_name: {
    ...text,
    needs: ['attachments'],
    values: ({ attachments }) => texts(attachments.map(({ filename }) => filename)),
  },
  attachment_type: {
    ...text,
    needs: ['attachments'],
    values: ({ attachments }) => texts(attachments.map(({ contentType }) => contentType)),
  },
  has_attachment: {
    ...flag,
    needs: ['attachments'],
    values: ({ attachments }) => plain(attachments.length > 0),
  },
  size_bytes: {
    type: 'number',
    choices: null,
    optional: false,
    min: 0,
    max: 2 ** 40,
    values: ({ sizeBytes }) => plain(sizeBytes),
  },
  kind: {
    type: 'choice',
    choices: ['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn'],
    optional: false,
    values: ({ kind }) => plain(kind),
  },
  label: { ...text, values: (_, labels) => texts(labels) },
  spf: { ...word, values: ({ authentication }) => plain(authentication?.spf?.result) },
  dkim: { ...word, values: ({ authentication }) => plain(authentication?.dkim?.result) },
  dmarc: { ...word, values: ({ authentication }) => plain(authentication?.dmarc?.result) },
  first_contact: { ...flag, values: ({ isFirstContact }) => plain(isFirstContact) },
  language: { ...word, needs: ['text', 'language'], values: ({ language }) => plain(language) },
  received_at_hour: {
    type: 'number',
    choices: null,
    optional: false,
    min: 0,
    max: 23,
    values: ({ receivedAt, timeZone }) => plain(localTime(receivedAt, timeZone).hour),
  },
  received_on_weekday: {
    type: 'choice',
    choices: WEEKDAYS,
    optional: false,
    values: ({ receivedAt, timeZone }) => plain(localTime(receivedAt, timeZone).weekday),
  },
};

const HEADER = /^header:([!-9;-~]{1,76})$/;

/** The name of the header field that `field` means, in lower case (RFC 5322 §3.6.8); null for other fields. */
export function headerNameOf(field: string): string | null {
  return HEADER.exec(field)?.[1]?.toLowerCase() ?? null;
}

/** Null for an unknown field. */
export function fieldOf(name: string): Field | null {
  const header = headerNameOf(name);
  if (header !== null) {
    return {
      ...text,
      needs: ['headers'],
      values: ({ headers }) => texts(headers.get(header) ?? []),
    };
  }
  return Object.hasOwn(FIELDS, name) ? FIELDS[name as RuleField] : null;
}

export function valuesOf(
  message: RuleMessage,
  labels: readonly string[],
  field: string,
): FieldValue[] {
  return fieldOf(field)?.values(message, labels) ?? [];
}

export function neededFacts(rules: readonly Pick<RuleDefinition, 'conditions'>[]): NeededFacts {
  const fields = rules.flatMap(({ conditions }) => conditions.map(({ field }) => fieldOf(field)));
  const needed = new Set(fields.flatMap((field) => field?.needs ?? []));
  return Object.fromEntries(FACTS.map((fact) => [fact, needed.has(fact)])) as NeededFacts;
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
