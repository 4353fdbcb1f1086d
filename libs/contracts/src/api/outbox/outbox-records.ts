import { z } from 'zod';
import { MESSAGE_STATUSES, MessageRecord, RecipientDelivery } from '../messages/message-records';
import { id, timestamp } from '../record-shapes';

/** Why due mail waits: it is held, and continues once released. */
const STOPPED_BY = ['mailbox_disabled', 'organization_suspended', 'outgoing_held'] as const;

export const OutboxEntryRecord = z.object({
  id,
  conversation_id: id,
  mailbox_id: id,
  subject: z.string(),
  status: z.enum(MESSAGE_STATUSES),
  hold: z
    .object({
      reason: z.enum(['scheduled', 'undo', 'approval', 'quota', ...STOPPED_BY]),
      until: timestamp.nullable(),
    })
    .nullable(),
  send_at: timestamp.nullable(),
  undo_until: timestamp.nullable(),
  recipients: z.array(RecipientDelivery),
  attempts: z.int(),
  next_attempt_at: timestamp.nullable(),
  author: MessageRecord.shape.author,
  template: z.object({ id, version: z.int() }).nullable().describe('The source of its text'),
  created_at: timestamp,
  updated_at: timestamp,
});

export type OutboxEntryRecord = z.infer<typeof OutboxEntryRecord>;
