import { z } from 'zod';
import { id, metadata, timestamp, WEEKDAYS } from '../record-shapes';

export const MailboxSettings = z.object({
  time_zone: z.string().describe('IANA name'),
  business_hours: z.array(
    z.object({
      day: z.enum(WEEKDAYS),
      from: z.string().describe('HH:MM'),
      to: z.string().describe('HH:MM'),
    }),
  ),
  undo_seconds: z.int().min(0).max(120),
  auto_reply: z.object({
    enabled: z.boolean(),
    start_at: timestamp.nullable(),
    end_at: timestamp.nullable(),
    subject: z.string(),
    body_text: z.string(),
  }),
  plus_addressing: z.boolean(),
  sync_from: timestamp.nullable(),
});

export const MAILBOX_KINDS = ['hosted', 'imap', 'google', 'microsoft'] as const;
export const AGENT_MODES = ['off', 'draft_only', 'approve', 'autonomous'] as const;

export const MailboxRecord = z.object({
  id,
  address: z.string(),
  display_name: z.string().nullable(),
  kind: z.enum(MAILBOX_KINDS),
  status: z.enum(['active', 'disabled', 'deleting']),
  connection: z.object({
    state: z.enum([
      'not_connected',
      'connecting',
      'syncing',
      'connected',
      'auth_error',
      'connect_error',
      'paused',
    ]),
    last_sync_at: timestamp.nullable(),
    last_error: z.object({ code: z.string(), message: z.string(), at: timestamp }).nullable(),
    retry_at: timestamp.nullable(),
  }),
  sync: z.object({ progress_pct: z.number() }).nullable(),
  domain_id: id.nullable(),
  department_ids: z.array(id),
  assigned_user_ids: z.array(id),
  default_signature_id: id.nullable(),
  policy_id: id.nullable(),
  agent_mode: z.enum(AGENT_MODES),
  settings: MailboxSettings,
  limits: z.object({
    recipients_per_message: z.int(),
    sends_per_hour: z.int(),
    sends_per_day: z.int(),
    storage_bytes: z.int(),
  }),
  usage: z.object({
    sends_last_hour: z.int(),
    sends_today: z.int(),
    storage_bytes: z.int(),
    resets_at: timestamp,
  }),
  counts: z.object({
    open: z.int(),
    pending: z.int(),
    waiting: z.int(),
    snoozed: z.int(),
    unread: z.int(),
    drafts: z.int(),
    awaiting_approval: z.int(),
  }),
  metadata,
  client_id: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
  deleted_at: timestamp.nullable(),
  version: z.int(),
});

export const ACCESS_LEVELS = ['read', 'write', 'send'] as const;

export const AssignmentsRecord = z.object({
  mailbox_id: id,
  users: z.array(z.object({ user_id: id, access: z.enum(ACCESS_LEVELS) })),
  department_ids: z.array(id),
});

export type MailboxSettings = z.infer<typeof MailboxSettings>;
export type MailboxRecord = z.infer<typeof MailboxRecord>;
export type AssignmentsRecord = z.infer<typeof AssignmentsRecord>;
