import type { OverviewRecord } from '@dak/contracts/api';
import type { Document, GetOverviewRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { AnalyticsDeps } from './analytics-deps';
import { analyticsQuery } from './analytics-query';
import { bucketsOf, groupsOf, numbersOf, totalOf, type Group } from './numbers';
import { selectNumbers, type NumberRows } from './numbers-store';
import { resolveRange, type TimeRange } from './range-store';

/** Totals, a series and their breakdown. */
export async function getOverview(
  { database, clock }: AnalyticsDeps,
  request: GetOverviewRequest,
  { principal }: CallContext,
): Promise<Document> {
  const query = analyticsQuery(request.query, principal);
  const record = await database.inTenant(principal.organizationId, async (tx) => {
    const range = await resolveRange(tx, principal.organizationId, query, clock());
    const rows = await selectNumbers(tx, principal, query, range, [
      'total',
      'bucket',
      'mailbox',
      'department',
      'assignee',
    ]);
    return overviewRecord(range, rows);
  });
  return { id: '', version: 0, json: jsonBytes(record), replayed: false };
}

function overviewRecord(range: TimeRange, rows: NumberRows): OverviewRecord {
  return {
    range: rangeRecord(range),
    as_of: rows.as_of,
    totals: numbersOf(totalOf(rows)),
    series: bucketsOf(rows, range.starts.length).map((group, index) => ({
      at: range.starts[index]!,
      ...numbersOf(group),
    })),
    by_mailbox: groupsOf(rows, 'mailbox').map((group) => ({
      mailbox_id: group.key,
      ...numbersOf(group),
    })),
    by_department: groupsOf(rows, 'department').map((group) => ({
      department_id: group.key,
      ...numbersOf(group),
    })),
    by_assignee: groupsOf(rows, 'assignee').map((group) => ({
      assignee: personOf(rows, group),
      ...numbersOf(group),
    })),
  };
}

export function rangeRecord({ from, to, granularity, timeZone }: TimeRange) {
  return { from, to, granularity, time_zone: timeZone };
}

/** Null for unassigned. */
export function personOf(
  rows: Pick<NumberRows, 'people'>,
  { key: id, type }: Pick<Group, 'key' | 'type'>,
): { type: string; id: string; name: string } | null {
  if (id === null || type === null) return null;
  const person = rows.people.find((known) => known.type === type && known.id === id);
  return { type, id, name: person?.name ?? '' };
}
