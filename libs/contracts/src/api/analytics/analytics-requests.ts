import { z } from 'zod';
import { timeZoneShape } from '../../requests';
import { ConversationFilter } from '../conversations/conversation-filter';
import { GRANULARITIES } from './analytics-records';

const rangeEnd = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'must be an RFC 3339 time such as 2026-11-01T00:00:00Z, or a date such as 2026-11-01.',
});
const { mailbox, department, assignee } = ConversationFilter.shape;

/** What narrows every question for numbers. */
export const AnalyticsQuery = z.object({
  from: rangeEnd.optional().meta({
    description: 'Time, or date in the time zone. Absent: 30 days, with the day of `to`.',
  }),
  to: rangeEnd.optional().meta({
    description: 'Time (not included), or date (its whole day is included). Absent: now.',
  }),
  granularity: z.enum(GRANULARITIES).optional().meta({ description: 'Absent: day.' }),
  time_zone: timeZoneShape.optional().meta({
    description:
      'IANA name; where hours, days, weeks and months begin. Absent: the organization’s.',
    examples: ['Asia/Kolkata'],
  }),
  mailbox,
  department: department.meta({ description: 'Of the conversation, when it happened.' }),
  assignee: assignee.meta({
    description: '`me`, `none` or the id of a user or agent, when it happened.',
  }),
});

export type AnalyticsQuery = z.output<typeof AnalyticsQuery>;
