import { AnalyticsQuery as QueryFields } from '@dak/contracts/api';
import type { AnalyticsQuery as QueryMessage } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import type { Principal } from '@dak/kernel';

export type Granularity = NonNullable<QueryFields['granularity']>;

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

/** @throws InvalidError naming the field */
export function analyticsQuery(
  message: QueryMessage | undefined,
  principal: Pick<Principal, 'userId'>,
): AnalyticsQuery {
  const { from, to, granularity, time_zone, mailbox, department, assignee } = parseRequest(
    QueryFields,
    { ...requestOf(message ?? {}), mailbox: message?.mailboxId, department: message?.departmentId },
  );
  return {
    from: rangeEnd(from),
    to: rangeEnd(to),
    granularity: granularity ?? 'day',
    timeZone: time_zone ?? null,
    mailboxId: mailbox?.toLowerCase() ?? null,
    departmentId: department?.toLowerCase() ?? null,
    assignee: assignee === 'me' ? principal.userId : (assignee?.toLowerCase() ?? null),
  };
}

function rangeEnd(text: string | undefined): RangeEnd {
  if (text === undefined) return null;
  return text.includes('T') ? { time: new Date(text).toISOString() } : { date: text };
}
