import { z } from 'zod';
import { GRANULARITIES } from '@dak/contracts/api';
import type { AnalyticsQuery } from '@dak/contracts/mail';
import { conversationFilterFields } from './conversation-filter';

const rangeEnd = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'must be an RFC 3339 time or a date.',
});

/** What every question for numbers may be narrowed by. */
export const analyticsFields = {
  from: rangeEnd.optional().meta({
    description: 'Time, or date in the time zone. Absent: 30 days, with the day of `to`.',
  }),
  to: rangeEnd.optional().meta({
    description: 'Time (not included), or date (its whole day is included). Absent: now.',
  }),
  granularity: z.enum(GRANULARITIES).optional().meta({ description: 'Absent: day.' }),
  time_zone: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({
      description:
        'IANA name; where hours, days, weeks and months begin. Absent: the organization’s.',
      examples: ['Asia/Kolkata'],
    }),
  mailbox: conversationFilterFields.mailbox,
  department: conversationFilterFields.department.meta({
    description: 'Of the conversation, when it happened.',
  }),
  assignee: conversationFilterFields.assignee.meta({
    description: '`me`, `none` or the id of a user or agent, when it happened.',
  }),
};

export function toAnalyticsQuery(
  query: z.output<z.ZodObject<typeof analyticsFields>>,
): AnalyticsQuery {
  return {
    from: query.from,
    to: query.to,
    granularity: query.granularity,
    timeZone: query.time_zone,
    mailboxId: query.mailbox,
    departmentId: query.department,
    assignee: query.assignee,
  };
}
