import { z } from 'zod';

export const GRANULARITIES = ['hour', 'day', 'week', 'month'] as const;
export const REPORTS = ['volume', 'response-times', 'deliverability', 'workload'] as const;
export type ReportName = (typeof REPORTS)[number];

const count = z.int();
const time = z.iso.datetime();
const seconds = z.number().nullable();

/** Seconds; percentiles are interpolated between the two nearest values, all null without any. */
const DurationsRecord = z.object({ p50: seconds, p90: seconds, mean: seconds, count });

const measures = {
  received: count.describe('Messages that came in; imported ones are not among them'),
  sent: count.describe('Deliveries that the next hop accepted, one per recipient'),
  failed: count.describe('Deliveries that finally failed; suppressed ones are counted apart'),
  bounced: count.describe('Recipients that a delivery status notification called failed'),
  complained: count,
  suppressed: count.describe('Recipients that were not written to, as they are suppressed'),
  conversations_opened: count,
  conversations_resolved: count.describe('Each time that one was resolved'),
  backlog: count.describe(
    'Conversations that were not resolved at the end, without spam and trash',
  ),
  first_response_seconds: DurationsRecord.describe(
    'From the first message of a person to the first answer that is not automatic',
  ),
  resolution_seconds: DurationsRecord.describe('From opening, or reopening, to resolving'),
};

const NumbersRecord = z.object(measures);

const assignee = z.object({ type: z.string(), id: z.string(), name: z.string() });

const range = z.object({
  from: time.describe('Included'),
  to: time.describe('Not included'),
  granularity: z.enum(GRANULARITIES),
  time_zone: z.string(),
});

const asOf = time.nullable().describe('Time of the latest event in these numbers');

export const OverviewRecord = z.object({
  range,
  as_of: asOf,
  totals: NumbersRecord,
  series: z.array(
    z.object({
      at: time.describe(
        'Where the hour, day, week or month begins; the first may begin before `from`',
      ),
      ...measures,
    }),
  ),
  by_mailbox: z.array(z.object({ mailbox_id: z.uuid().nullable(), ...measures })),
  by_department: z.array(z.object({ department_id: z.uuid().nullable(), ...measures })),
  by_assignee: z.array(z.object({ assignee: assignee.nullable(), ...measures })),
});
export type OverviewRecord = z.infer<typeof OverviewRecord>;

const cell = z.union([z.string(), z.number(), z.null()]);

export const ReportRecord = z.object({
  report: z.enum(REPORTS),
  range,
  as_of: asOf,
  columns: z.array(z.string()).describe('In the order of the CSV form'),
  rows: z.array(z.record(z.string(), cell)),
});
export type ReportRecord = z.infer<typeof ReportRecord>;
