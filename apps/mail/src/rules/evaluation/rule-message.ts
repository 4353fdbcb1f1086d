import type { AddressRecord, MessageRecord, RuleVerdictRecord } from '@dak/contracts/api';
import type { RuleDefinition } from '../definition/rule';
import { headerNameOf, WEEKDAYS } from '../definition/rule-fields';

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

/** What has to be read for the conditions of some rules, beyond the row of the message. */
export interface NeededFacts {
  readonly text: boolean;
  readonly language: boolean;
  readonly headers: boolean;
  readonly attachments: boolean;
}

export function neededFacts(rules: readonly Pick<RuleDefinition, 'conditions'>[]): NeededFacts {
  const fields = new Set(rules.flatMap(({ conditions }) => conditions.map(({ field }) => field)));
  const language = fields.has('language');
  return {
    language,
    text: language || fields.has('body'),
    headers: fields.has('recipient') || [...fields].some((field) => headerNameOf(field) !== null),
    attachments: ['attachment_name', 'attachment_type', 'has_attachment'].some((field) =>
      fields.has(field),
    ),
  };
}

/** A value that a message has for a field: what is compared, and what a person is shown. */
export interface FieldValue {
  readonly compared: string | number | boolean;
  readonly shown: string | number | boolean;
}

/**
 * All values of a field: one of them has to satisfy a condition. Nothing for what the mail lacks.
 * @param labels of the conversation, as earlier rules have left them
 */
export function valuesOf(
  message: RuleMessage,
  labels: readonly string[],
  field: string,
): FieldValue[] {
  const header = headerNameOf(field);
  if (header !== null) return texts(message.headers.get(header) ?? []);
  switch (field) {
    case 'from':
      return addresses(message.from === null ? [] : [message.from]);
    case 'to':
      return addresses(message.to);
    case 'cc':
      return addresses(message.cc);
    case 'recipient':
      return texts(recipients(message));
    case 'subject':
      return message.subject === '' ? [] : texts([message.subject]);
    case 'body':
      return bodies(message);
    case 'attachment_name':
      return texts(message.attachments.map(({ filename }) => filename));
    case 'attachment_type':
      return texts(message.attachments.map(({ contentType }) => contentType));
    case 'has_attachment':
      return plain(message.attachments.length > 0);
    case 'size_bytes':
      return plain(message.sizeBytes);
    case 'kind':
      return plain(message.kind);
    case 'label':
      return texts(labels);
    case 'spf':
    case 'dkim':
    case 'dmarc': {
      const verdict = message.authentication?.[field];
      return verdict === undefined ? [] : plain(verdict.result);
    }
    case 'first_contact':
      return plain(message.isFirstContact);
    case 'language':
      return message.language === null ? [] : plain(message.language);
    case 'received_at_hour':
      return plain(localTime(message.receivedAt, message.timeZone).hour);
    case 'received_on_weekday':
      return plain(localTime(message.receivedAt, message.timeZone).weekday);
    default:
      return [];
  }
}

/** What a person is shown as the message's side of a condition; null where there is nothing. */
export function actualOf(values: readonly FieldValue[]): RuleVerdictRecord['actual'] {
  const shown = [...new Set(values.map((value) => value.shown))]
    .slice(0, MAX_SHOWN)
    .map((value) => (typeof value === 'string' ? cut(value) : value));
  return shown.length > 1 ? shown : (shown[0] ?? null);
}

const MAX_SHOWN = 10;
const SHOWN_LENGTH = 200;

/** Cut between code points, so that no half of a surrogate pair is stored. */
function cut(text: string): string {
  if (text.length <= SHOWN_LENGTH) return text;
  return `${[...text.slice(0, 2 * SHOWN_LENGTH)].slice(0, SHOWN_LENGTH - 1).join('')}…`;
}

function plain(value: string | number | boolean): FieldValue[] {
  return [{ compared: value, shown: value }];
}

function texts(values: readonly string[]): FieldValue[] {
  return values.map((value) => ({ compared: value, shown: value }));
}

/** The address, and the display name too where there is one. */
function addresses(list: readonly AddressRecord[]): FieldValue[] {
  return list.flatMap(({ email, name }) => {
    const shown = name === '' ? email : `${name} <${email}>`;
    return name === ''
      ? [{ compared: email, shown }]
      : [
          { compared: email, shown },
          { compared: name, shown },
        ];
  });
}

function bodies({ textNew, text }: RuleMessage): FieldValue[] {
  const both = [textNew, text].filter((value): value is string => value !== null && value !== '');
  return texts([...new Set(both)]);
}

/** The address in "for <…>" of our own trace field (RFC 5321 §4.4). */
const TRACE_FOR = /\bfor <([^<>\s]{3,320})>/;

/** Where the mail was delivered to: the mailbox's address, also as it stood in the envelope or in To and Cc (RFC 5233 detail). */
function recipients(message: RuleMessage): string[] {
  const own = message.mailboxAddress.toLowerCase();
  const trace = TRACE_FOR.exec(message.headers.get('received')?.[0] ?? '')?.[1];
  const named = [...message.to, ...message.cc].map(({ email }) => email);
  const variants = [...(trace === undefined ? [] : [trace]), ...named].filter(
    (email) => withoutDetail(email) === own,
  );
  return [...new Set([message.mailboxAddress, ...variants].map((email) => email.toLowerCase()))];
}

export function withoutDetail(email: string): string {
  const lower = email.toLowerCase();
  const at = lower.lastIndexOf('@');
  const plus = lower.indexOf('+');
  return plus > 0 && plus < at ? lower.slice(0, plus) + lower.slice(at) : lower;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function localTime(
  time: number,
  timeZone: string,
): { hour: number; weekday: (typeof WEEKDAYS)[number] } {
  const parts = formatterOf(timeZone).formatToParts(time);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const weekday = part('weekday').toLowerCase();
  return {
    hour: Number(part('hour')),
    weekday: WEEKDAYS.find((day) => day === weekday) ?? 'mon',
  };
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: 'short',
      hour: 'numeric',
      hourCycle: 'h23',
    });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}
