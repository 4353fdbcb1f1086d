import { z } from 'zod';
import { id, metadata, timestamp } from '../record-shapes';

export const CONVERSATION_STATUSES = [
  'open',
  'pending',
  'waiting',
  'snoozed',
  'resolved',
  'closed',
] as const;
export const DISPOSITIONS = ['normal', 'spam', 'quarantined', 'trash'] as const;
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;

export const ConversationRecord = z.object({
  id,
  mailbox_id: id,
  number: z.int(),
  subject: z.string(),
  preview: z.string().max(200),
  status: z.enum(CONVERSATION_STATUSES),
  disposition: z.enum(DISPOSITIONS),
  priority: z.enum(PRIORITIES),
  department_id: id.nullable(),
  assignee: z
    .object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() })
    .nullable(),
  labels: z.array(z.string()),
  system_labels: z.array(z.string()),
  participants: z.array(
    z.object({
      email: z.string(),
      name: z.string(),
      role: z.enum(['customer', 'internal', 'cc']),
    }),
  ),
  snoozed_until: timestamp.nullable(),
  snooze_wake_on_reply: z.boolean(),
  message_count: z.int(),
  unread_count: z.int(),
  attachment_count: z.int(),
  size_bytes: z.int(),
  last_message_id: id.nullable(),
  last_message_at: timestamp,
  last_inbound_at: timestamp.nullable(),
  last_outbound_at: timestamp.nullable(),
  first_response_at: timestamp.nullable(),
  waiting_since: timestamp.nullable().describe('The oldest unanswered inbound message'),
  sla: z.null(),
  open_draft_id: id.nullable(),
  open_approval_id: id.nullable(),
  scheduled_count: z.int(),
  trust: z
    .object({
      level: z.enum(['trusted', 'known', 'new', 'suspicious']),
      reasons: z.array(z.string()),
    })
    .nullable(),
  summary: z.null(),
  merged_into_id: id.nullable(),
  linked_conversation_id: id.nullable().describe('The closed conversation that this one continues'),
  metadata,
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

export const ActivityRecord = z.object({
  id,
  conversation_id: id,
  at: timestamp,
  type: z.string().describe('status_changed, assigned, labels_changed, snoozed, merged …'),
  from: z.unknown(),
  to: z.unknown(),
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  reason: z.string().nullable(),
  run_id: z.string().nullable(),
});

/** One result per id of a bulk change; `status` is the HTTP status the single change would have had. */
export const BulkResultRecord = z.object({
  results: z.array(z.object({ id: z.string(), status: z.int(), error: z.string().nullable() })),
});

export type ConversationRecord = z.infer<typeof ConversationRecord>;
export type ActivityRecord = z.infer<typeof ActivityRecord>;
export type BulkResultRecord = z.infer<typeof BulkResultRecord>;
