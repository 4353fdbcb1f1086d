import type { ReportRecord } from '@dak/contracts/api';
import type { VerdictRow, WrittenRow } from './detail-store';
import { bucketsOf, groupsOf, type Durations, type Group } from './numbers';
import type { NumberRows } from './numbers-store';
import { personOf } from './get-overview';

type Table = Pick<ReportRecord, 'columns' | 'rows'>;
type Row = ReportRecord['rows'][number];

/** Mail received and sent, per bucket. */
export function volumeTable(starts: readonly string[], rows: NumberRows): Table {
  return perBucket(starts, rows, (group) => ({
    received: group.count('received', 'received_automatic'),
    received_automatic: group.count('received_automatic'),
    imported: group.count('imported'),
    sent: group.count('sent', 'sent_automatic'),
    sent_automatic: group.count('sent_automatic'),
    conversations_opened: group.count('opened'),
    conversations_reopened: group.count('reopened'),
    conversations_resolved: group.count('resolved'),
    backlog: group.backlog,
  }));
}

/** How long people waited, by when they got the answer. */
export function responseTimesTable(starts: readonly string[], rows: NumberRows): Table {
  return perBucket(starts, rows, (group) => ({
    ...durationCells('first_response', group.durations('first_response')),
    ...durationCells('resolution', group.durations('resolved')),
  }));
}

/** What became of the mail that left, and how the mail that came was authenticated. */
export function deliverabilityTable(
  starts: readonly string[],
  rows: NumberRows,
  verdicts: readonly VerdictRow[],
): Table {
  const byBucket = Map.groupBy(verdicts, ({ bucket }) => bucket);
  return perBucket(starts, rows, (group, number) => ({
    sent: group.count('sent', 'sent_automatic'),
    deferred: group.count('deferred'),
    failed: group.count('failed'),
    suppressed: group.count('suppressed'),
    bounced_hard: group.count('bounced_hard'),
    bounced_soft: group.count('bounced_soft'),
    complained: group.count('complained'),
    ...verdictCells(byBucket.get(number) ?? []),
  }));
}

/** Work done per user, and open work per user at the end. */
export function workloadTable(rows: NumberRows, written: readonly WrittenRow[]): Table {
  const acting = new Map(groupsOf(rows, 'actor').map((group) => [idOf(group), group]));
  const assigned = new Map(groupsOf(rows, 'assignee').map((group) => [idOf(group), group]));
  const messages = new Map(written.map((row) => [`${row.type}:${row.id}`, row.messages]));
  const ids = new Set([...acting.keys(), ...assigned.keys()]);
  const table = [...ids].flatMap((id): Row[] => {
    const actor = acting.get(id);
    const assignee = assigned.get(id);
    const person = personOf(rows, (actor ?? assignee)!);
    if (person !== null && !WORKERS.has(person.type)) return [];
    return [
      {
        type: person?.type ?? null,
        id: person?.id ?? null,
        name: person?.name ?? 'Nobody',
        messages_sent: person === null ? 0 : (messages.get(id) ?? 0),
        ...durationCells('first_response', actor?.durations('first_response') ?? NONE),
        conversations_resolved: actor?.count('resolved') ?? 0,
        agent_actions: actor?.count('agent_action') ?? 0,
        received_assigned: assignee?.count('received', 'received_automatic') ?? 0,
        backlog_assigned: assignee?.backlog ?? 0,
      },
    ];
  });
  return { columns: WORKLOAD_COLUMNS, rows: table.sort(byName) };
}

/** Neither the service itself nor the outside world has a workload. */
const WORKERS: ReadonlySet<string> = new Set(['user', 'api_key', 'agent', 'rule']);
const NONE: Durations = { p50: null, p90: null, mean: null, count: 0 };
const MECHANISMS = ['spf', 'dkim', 'dmarc'] as const;
const WORKLOAD_COLUMNS = [
  'type',
  'id',
  'name',
  'messages_sent',
  ...Object.keys(durationCells('first_response', NONE)),
  'conversations_resolved',
  'agent_actions',
  'received_assigned',
  'backlog_assigned',
];

function perBucket(
  starts: readonly string[],
  rows: NumberRows,
  cells: (group: Group, number: number) => Row,
): Table {
  const table = bucketsOf(rows, starts.length).map((group, index): Row => ({
    at: starts[index]!,
    ...cells(group, index + 1),
  }));
  return { columns: Object.keys(table[0]!), rows: table };
}

function durationCells(name: string, durations: Durations): Row {
  return {
    [`${name}_count`]: durations.count,
    [`${name}_seconds_p50`]: durations.p50,
    [`${name}_seconds_p90`]: durations.p90,
    [`${name}_seconds_mean`]: durations.mean,
  };
}

function verdictCells(verdicts: readonly VerdictRow[]): Row {
  const count = (mechanism: string, isMeant: (verdict: string) => boolean) =>
    verdicts
      .filter((row) => row.mechanism === mechanism && isMeant(row.verdict))
      .reduce((sum, row) => sum + row.count, 0);
  return Object.fromEntries(
    MECHANISMS.flatMap((mechanism) => [
      [`${mechanism}_pass`, count(mechanism, (verdict) => verdict === 'pass')],
      [`${mechanism}_fail`, count(mechanism, (verdict) => verdict === 'fail')],
      [
        `${mechanism}_other`,
        count(mechanism, (verdict) => verdict !== 'pass' && verdict !== 'fail'),
      ],
    ]),
  );
}

function idOf({ type, key }: Pick<Group, 'type' | 'key'>): string {
  return `${type}:${key}`;
}

/** Unassigned comes last. */
function byName(a: Row, b: Row): number {
  if ((a['id'] === null) !== (b['id'] === null)) return a['id'] === null ? 1 : -1;
  const [x, y] = [a, b].map((row) => `${row['name']}\n${row['type']}\n${row['id']}`) as [
    string,
    string,
  ];
  return x < y ? -1 : x > y ? 1 : 0;
}
