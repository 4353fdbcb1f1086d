import { WEEKDAYS, type AddressRecord, type RuleVerdictRecord } from '@dak/contracts/api';

/** A message's value of a field: as compared, and as displayed. */
export interface FieldValue {
  readonly compared: string | number | boolean;
  readonly shown: string | number | boolean;
}

/** A message's values in a condition, as displayed; null if there are none. */
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

/** Empty if the mail lacks the field. */
export function plain(value: string | number | boolean | null | undefined): FieldValue[] {
  return value === null || value === undefined ? [] : [{ compared: value, shown: value }];
}

export function texts(values: readonly string[]): FieldValue[] {
  return values.map((value) => ({ compared: value, shown: value }));
}

/** The address, and the display name too where there is one. */
export function addresses(list: readonly AddressRecord[]): FieldValue[] {
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

/** The address in "for <…>" of our own trace field (RFC 5321 §4.4). */
const TRACE_FOR = /\bfor <([^<>\s]{3,320})>/;

/**
 * Where mail was delivered to: the mailbox's address, also as it stood in the envelope or in To and Cc (RFC 5233 detail).
 * @param received the newest trace field
 */
export function recipients(
  mailboxAddress: string,
  received: string | undefined,
  named: readonly AddressRecord[],
): string[] {
  const own = mailboxAddress.toLowerCase();
  const trace = TRACE_FOR.exec(received ?? '')?.[1];
  const variants = [...(trace === undefined ? [] : [trace]), ...named.map(({ email }) => email)];
  const delivered = variants.filter((email) => withoutDetail(email) === own);
  return [...new Set([mailboxAddress, ...delivered].map((email) => email.toLowerCase()))];
}

export function withoutDetail(email: string): string {
  const lower = email.toLowerCase();
  const at = lower.lastIndexOf('@');
  const plus = lower.indexOf('+');
  return plus > 0 && plus < at ? lower.slice(0, plus) + lower.slice(at) : lower;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

export function localTime(
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
