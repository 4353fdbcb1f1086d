import { z } from 'zod';
import { timeShape, timeZoneShape } from '../../requests';
import { ConversationFilter } from '../conversations/conversation-filter';
import { GRANULARITIES } from './analytics-records';

const rangeEnd = z.union([timeShape, z.iso.date()], {
  error: 'must be an RFC 3339 time such as 2026-11-01T00:00:00Z, or a date such as 2026-11-01.',
});
const { mailbox, department, assignee } = ConversationFilter.shape;

/** What narrows every question for numbers. */
export const AnalyticsQuery = z.object({
  from: rangeEnd.optional().meta({
    description: 'A time, or a date in the time zone. Default: 30 days, including the day of `to`.',
  }),
  to: rangeEnd.optional().meta({
    description: 'A time (exclusive) or a date (that whole day included). Default: now.',
  }),
  granularity: z.enum(GRANULARITIES).optional().meta({ description: 'Absent: day.' }),
  time_zone: timeZoneShape.optional().meta({
    description:
      'IANA time zone in which hours, days, weeks and months begin. Default: the organization’s.',
    examples: ['Asia/Kolkata'],
  }),
  mailbox,
  department: department.meta({ description: 'The conversation’s value at that time.' }),
  assignee: assignee.meta({
    description: '`me`, `none`, or the ID of the user or agent assigned at that time.',
  }),
});

export type AnalyticsQuery = z.output<typeof AnalyticsQuery>;
