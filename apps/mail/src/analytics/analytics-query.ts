import { GRANULARITIES } from '@dak/contracts/api';
import type { AnalyticsQuery as QueryMessage } from '@dak/contracts/mail';
import { InvalidError, isUuid, type Principal } from '@dak/kernel';

export type Granularity = (typeof GRANULARITIES)[number];

/** An end of the range: a moment, or a whole day of the time zone. */
export type RangeEnd = { readonly time: string } | { readonly date: string } | null;

export interface AnalyticsQuery {
  readonly from: RangeEnd;
  readonly to: RangeEnd;
  readonly granularity: Granularity;
  /** Null: the organization's. */
  readonly timeZone: string | null;
  readonly mailboxId: string | null;
  readonly departmentId: string | null;
  /** `none`, or the id of a user or agent; null for all. */
  readonly assignee: string | null;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

/** @throws InvalidError naming the field */
export function analyticsQuery(
  message: QueryMessage | undefined,
  principal: Pick<Principal, 'userId'>,
): AnalyticsQuery {
  return {
    from: rangeEnd('from', message?.from),
    to: rangeEnd('to', message?.to),
    granularity: granularityOf(message?.granularity),
    timeZone: timeZoneOf(message?.timeZone),
    mailboxId: uuidOf('mailbox', message?.mailboxId),
    departmentId: uuidOf('department', message?.departmentId),
    assignee: assigneeOf(message?.assignee, principal),
  };
}

function rangeEnd(field: string, text: string | undefined): RangeEnd {
  if (text === undefined) return null;
  const isDate = DATE.test(text);
  const parsed = isDate || TIME.test(text) ? new Date(text) : new Date(Number.NaN);
  // Date rolls the 30th of February over to March.
  const isReal = !Number.isNaN(parsed.getTime()) && hasDay(text.slice(0, 10));
  if (!isReal) {
    throw new InvalidError(
      `${field} must be an RFC 3339 time such as 2026-11-01T00:00:00Z, or a date such as 2026-11-01.`,
    );
  }
  return isDate ? { date: text } : { time: parsed.toISOString() };
}

function hasDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

function granularityOf(text: string | undefined): Granularity {
  if (text === undefined) return 'day';
  const found = GRANULARITIES.find((name) => name === text);
  if (found === undefined) {
    throw new InvalidError(`granularity must be one of ${GRANULARITIES.join(', ')}.`);
  }
  return found;
}

/** IANA names only: of an offset, PostgreSQL (POSIX) and everybody else take the sign for opposites. */
function timeZoneOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    if (!/^[A-Za-z]/.test(text)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone: text });
    return text;
  } catch {
    throw new InvalidError('time_zone must be an IANA name such as Asia/Kolkata.');
  }
}

function uuidOf(field: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!isUuid(text)) throw new InvalidError(`${field} must be a UUID.`);
  return text.toLowerCase();
}

function assigneeOf(text: string | undefined, principal: Pick<Principal, 'userId'>): string | null {
  if (text === undefined || text === 'none') return text ?? null;
  if (text === 'me') return principal.userId;
  if (!isUuid(text)) throw new InvalidError('assignee must be me, none or a UUID.');
  return text.toLowerCase();
}
