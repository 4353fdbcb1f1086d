import type { OverviewRecord } from '@dak/contracts/api';
import type { CountRow, Dimension, NumberRows, SampleRow } from './numbers-store';
import type { Measure } from './project-entry';

/** One group as the API shows it. */
export type Numbers = OverviewRecord['totals'];
export type Durations = Numbers['first_response_seconds'];

/** The numbers of one group, by measure. */
export interface Group {
  readonly key: string | null;
  readonly type: string | null;
  count(...measures: Measure[]): number;
  durations(measure: Measure): Durations;
  /** At the end of the range. */
  readonly backlog: number;
}

/** The groups of a dimension that have any number, those with most mail first; of buckets in time order. */
export function groupsOf(rows: NumberRows, dimension: Dimension): Group[] {
  const found = new Map<string, { key: string | null; type: string | null }>();
  const counts = new Map<string, CountRow>();
  const samples = new Map<string, SampleRow>();
  const backlog = new Map<string, number>();
  const note = (row: { key: string | null; type: string | null }): string => {
    const id = `${row.type}:${row.key}`;
    if (!found.has(id)) found.set(id, { key: row.key, type: row.type });
    return id;
  };
  for (const row of rows.counts) {
    if (row.dimension === dimension) counts.set(`${note(row)}:${row.measure}`, row);
  }
  for (const row of rows.samples) {
    if (row.dimension === dimension) samples.set(`${note(row)}:${row.measure}`, row);
  }
  for (const row of rows.backlog) {
    if (row.dimension === dimension && row.amount !== 0) backlog.set(note(row), row.amount);
  }
  const groups = [...found].map(([id, { key, type }]): Group => ({
    key,
    type,
    count: (...measures) =>
      measures.reduce((sum, measure) => sum + (counts.get(`${id}:${measure}`)?.amount ?? 0), 0),
    durations: (measure) => durationsOf(samples.get(`${id}:${measure}`)),
    backlog: backlog.get(id) ?? 0,
  }));
  return dimension === 'bucket'
    ? groups.sort((a, b) => Number(a.key) - Number(b.key))
    : groups.sort(byWeight);
}

/** One group per bucket, empty ones included, with the backlog at the end of each. */
export function bucketsOf(rows: NumberRows, buckets: number): Group[] {
  const byNumber = new Map(groupsOf(rows, 'bucket').map((group) => [Number(group.key), group]));
  const series: Group[] = [];
  let backlog = totalOf(rows).backlog;
  for (let number = buckets; number >= 1; number -= 1) {
    const group = byNumber.get(number) ?? { ...EMPTY, key: String(number) };
    series.push({ ...group, backlog });
    backlog -= group.count('backlog');
  }
  return series.reverse();
}

export function totalOf(rows: NumberRows): Group {
  return groupsOf(rows, 'total')[0] ?? EMPTY;
}

const NO_DURATIONS: Durations = { p50: null, p90: null, mean: null, count: 0 };
const EMPTY: Group = {
  key: null,
  type: null,
  count: () => 0,
  durations: () => NO_DURATIONS,
  backlog: 0,
};

export function numbersOf(group: Group): Numbers {
  return {
    received: group.count('received', 'received_automatic'),
    sent: group.count('sent', 'sent_automatic'),
    failed: group.count('failed'),
    bounced: group.count('bounced_hard', 'bounced_soft'),
    complained: group.count('complained'),
    suppressed: group.count('suppressed'),
    conversations_opened: group.count('opened'),
    conversations_resolved: group.count('resolved'),
    backlog: group.backlog,
    first_response_seconds: group.durations('first_response'),
    resolution_seconds: group.durations('resolved'),
  };
}

/** Milliseconds to seconds, no finer than a millisecond. */
function durationsOf(sample: SampleRow | undefined): Durations {
  if (sample === undefined) return NO_DURATIONS;
  const seconds = (milliseconds: number) => Math.round(milliseconds) / 1000;
  const { p50, p90, mean, count } = sample;
  return { p50: seconds(p50), p90: seconds(p90), mean: seconds(mean), count };
}

function byWeight(a: Group, b: Group): number {
  const weight = (group: Group) =>
    group.count('received', 'received_automatic', 'sent', 'sent_automatic') + group.backlog;
  if (weight(a) !== weight(b)) return weight(b) - weight(a);
  return `${a.type}:${a.key}` < `${b.type}:${b.key}` ? -1 : 1;
}
