import {
  headerNameOf,
  type AddressRecord,
  type MessageRecord,
  type RuleField,
} from '@dak/contracts/api';
import { addresses, localTime, plain, recipients, texts } from './field-values';
import type { FieldValue } from './field-values';
import type { RuleDefinition } from './rule';

/** A received message as rules see it. */
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
  /** The author's new text, and the whole text; bounded. Null if no rule needs it. */
  readonly textNew: string | null;
  readonly text: string | null;
  readonly attachments: readonly { readonly filename: string; readonly contentType: string }[];
  readonly sizeBytes: number;
  readonly authentication: MessageRecord['authentication'];
  /** False where an automatic answer could loop or annoy (RFC 3834 §2). */
  readonly mayAutoReply: boolean;
  /** MAIL FROM:<>: no one receives replies (RFC 5321 §4.5.5). */
  readonly hasEmptyReversePath: boolean;
  readonly listMail: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly isFirstContact: boolean;
  /** ISO 639-1; null if unknown, or if no rule needs it. */
  readonly language: string | null;
  /** Decoded values by lower-case name; empty where no rule asks for any. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly messageIdHeader: string | null;
}

/** Facts beyond the message's row, loaded only if a rule needs them. */
const FACTS = ['text', 'language', 'headers', 'attachments'] as const;
type Fact = (typeof FACTS)[number];
export type NeededFacts = Readonly<Record<Fact, boolean>>;

/** How rules read a field; its type and operators are in the contract (`fieldShapeOf`). */
interface Field {
  readonly needs?: readonly Fact[];
  /**
   * All values of the field: one of them must satisfy a condition. Empty if the mail lacks the field.
   * @param labels of the conversation, as earlier rules have left them
   */
  readonly values: (message: RuleMessage, labels: readonly string[]) => FieldValue[];
}

const FIELDS: Readonly<Record<RuleField, Field>> = {
  from: { values: ({ from }) => addresses(from === null ? [] : [from]) },
  to: { values: ({ to }) => addresses(to) },
  cc: { values: ({ cc }) => addresses(cc) },
  recipient: {
    needs: ['headers'],
    values: ({ mailboxAddress, headers, to, cc }) =>
      texts(recipients(mailboxAddress, headers.get('received')?.[0], [...to, ...cc])),
  },
  subject: { values: ({ subject }) => texts(subject === '' ? [] : [subject]) },
  body: {
    needs: ['text'],
    values: ({ textNew, text: whole }) =>
      texts([...new Set([textNew ?? '', whole ?? ''])].filter((each) => each !== '')),
  },
  attachment_name: {
    needs: ['attachments'],
    values: ({ attachments }) => texts(attachments.map(({ filename }) => filename)),
  },
  attachment_type: {
    needs: ['attachments'],
    values: ({ attachments }) => texts(attachments.map(({ contentType }) => contentType)),
  },
  has_attachment: {
    needs: ['attachments'],
    values: ({ attachments }) => plain(attachments.length > 0),
  },
  size_bytes: { values: ({ sizeBytes }) => plain(sizeBytes) },
  kind: { values: ({ kind }) => plain(kind) },
  label: { values: (_, labels) => texts(labels) },
  spf: { values: ({ authentication }) => plain(authentication?.spf?.result) },
  dkim: { values: ({ authentication }) => plain(authentication?.dkim?.result) },
  dmarc: { values: ({ authentication }) => plain(authentication?.dmarc?.result) },
  first_contact: { values: ({ isFirstContact }) => plain(isFirstContact) },
  language: { needs: ['text', 'language'], values: ({ language }) => plain(language) },
  received_at_hour: {
    values: ({ receivedAt, timeZone }) => plain(localTime(receivedAt, timeZone).hour),
  },
  received_on_weekday: {
    values: ({ receivedAt, timeZone }) => plain(localTime(receivedAt, timeZone).weekday),
  },
};

/** Null for an unknown field. */
function fieldOf(name: string): Field | null {
  const header = headerNameOf(name);
  if (header !== null) {
    return { needs: ['headers'], values: ({ headers }) => texts(headers.get(header) ?? []) };
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
