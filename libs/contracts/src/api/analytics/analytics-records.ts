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
  received: count.describe('Messages received; imported ones are not counted'),
  sent: count.describe('Deliveries that the next hop accepted, one per recipient'),
  failed: count.describe(
    'Deliveries that failed permanently; suppressed ones are counted separately',
  ),
  bounced: count.describe('Recipients reported as failed by a delivery status notification'),
  complained: count,
  suppressed: count.describe('Recipients skipped because they are suppressed'),
  conversations_opened: count,
  conversations_resolved: count.describe('Each time a conversation was resolved'),
  backlog: count.describe('Conversations unresolved at the end, excluding spam and trash'),
  first_response_seconds: DurationsRecord.describe(
    'From a person’s first message to the first reply that is not automatic',
  ),
  resolution_seconds: DurationsRecord.describe('From opening or reopening to resolution'),
};

const NumbersRecord = z.object(measures);

const assignee = z.object({ type: z.string(), id: z.string(), name: z.string() });

const range = z.object({
  from: time.describe('Included'),
  to: time.describe('Exclusive'),
  granularity: z.enum(GRANULARITIES),
  time_zone: z.string(),
});

const asOf = time.nullable().describe('Time of the latest event in these figures');

export const OverviewRecord = z.object({
  range,
  as_of: asOf,
  totals: NumbersRecord,
  series: z.array(
    z.object({
      at: time.describe('Start of the hour, day, week or month; the first may start before `from`'),
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
