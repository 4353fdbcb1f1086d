import { z } from 'zod';

/**
 * The public records of the mail service. The gateway documents and (in tests) validates replies
 * with these schemas; the mail service renders to their types, so the two cannot drift apart.
 */
const id = z.uuid();
const timestamp = z.iso.datetime().describe('RFC 3339, UTC');
const nullable = <T extends z.ZodType>(schema: T) => schema.nullable();
const metadata = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe('At most 64 keys');

export const AddressRecord = z.object({ email: z.string(), name: z.string() });

export const MailboxSettings = z.object({
  time_zone: z.string().describe('IANA name'),
  business_hours: z.array(
    z.object({
      day: z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']),
      from: z.string().describe('HH:MM'),
      to: z.string().describe('HH:MM'),
    }),
  ),
  undo_seconds: z.int().min(0).max(120),
  auto_reply: z.object({
    enabled: z.boolean(),
    start_at: nullable(timestamp),
    end_at: nullable(timestamp),
    subject: z.string(),
    body_text: z.string(),
  }),
  plus_addressing: z.boolean(),
  sync_from: nullable(timestamp),
});

export const MAILBOX_KINDS = ['hosted', 'imap', 'google', 'microsoft'] as const;
export const AGENT_MODES = ['off', 'draft_only', 'approve', 'autonomous'] as const;

export const MailboxRecord = z.object({
  id,
  address: z.string(),
  display_name: nullable(z.string()),
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
    last_sync_at: nullable(timestamp),
    last_error: nullable(z.object({ code: z.string(), message: z.string(), at: timestamp })),
    retry_at: nullable(timestamp),
  }),
  sync: nullable(z.object({ progress_pct: z.number() })),
  domain_id: nullable(id),
  department_ids: z.array(id),
  assigned_user_ids: z.array(id),
  default_signature_id: nullable(id),
  policy_id: nullable(id),
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
  client_id: nullable(z.string()),
  created_at: timestamp,
  updated_at: timestamp,
  deleted_at: nullable(timestamp),
  version: z.int(),
});

export const AssignmentsRecord = z.object({
  mailbox_id: id,
  users: z.array(z.object({ user_id: id, access: z.enum(['read', 'write', 'send']) })),
  department_ids: z.array(id),
});

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
  department_id: nullable(id),
  assignee: nullable(
    z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
  ),
  labels: z.array(z.string()),
  system_labels: z.array(z.string()),
  participants: z.array(
    z.object({
      email: z.string(),
      name: z.string(),
      role: z.enum(['customer', 'internal', 'cc']),
    }),
  ),
  snoozed_until: nullable(timestamp),
  snooze_wake_on_reply: z.boolean(),
  message_count: z.int(),
  unread_count: z.int(),
  attachment_count: z.int(),
  size_bytes: z.int(),
  last_message_id: nullable(id),
  last_message_at: timestamp,
  last_inbound_at: nullable(timestamp),
  last_outbound_at: nullable(timestamp),
  first_response_at: nullable(timestamp),
  waiting_since: nullable(timestamp).describe('The oldest unanswered inbound message'),
  sla: z.null(),
  open_draft_id: nullable(id),
  open_approval_id: nullable(id),
  scheduled_count: z.int(),
  trust: nullable(
    z.object({
      level: z.enum(['trusted', 'known', 'new', 'suspicious']),
      reasons: z.array(z.string()),
    }),
  ),
  summary: z.null(),
  merged_into_id: nullable(id),
  linked_conversation_id: nullable(id).describe('The closed conversation that this one continues'),
  metadata,
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

export const AttachmentRecord = z.object({
  id,
  filename: z.string(),
  content_type: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  disposition: z.enum(['attachment', 'inline']),
  content_id: nullable(z.string()),
  scan: z.object({
    status: z.enum(['not_scanned', 'pending', 'clean', 'infected', 'unscannable']),
    engine: nullable(z.string()),
    at: nullable(timestamp),
  }),
  text_available: z.boolean(),
});

export const MESSAGE_STATUSES = [
  'received',
  'draft',
  'awaiting_approval',
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'deferred',
  'bounced',
  'complained',
  'failed',
  'canceled',
  'suppressed',
  'uncertain',
] as const;

const verdict = z.object({ result: z.string(), domain: nullable(z.string()) });

export const RecipientDelivery = z.object({
  email: z.string(),
  status: z.enum([
    'held',
    'scheduled',
    'queued',
    'sending',
    'sent',
    'deferred',
    'bounced',
    'failed',
    'suppressed',
    'uncertain',
    'canceled',
  ]),
  smtp_code: nullable(z.int()),
  diagnostic: nullable(z.string()),
  at: nullable(timestamp),
});

export const MessageRecord = z.object({
  id,
  conversation_id: id,
  mailbox_id: id,
  direction: z.enum(['inbound', 'outbound', 'internal_note']),
  status: z.enum(MESSAGE_STATUSES),
  from: nullable(AddressRecord),
  to: z.array(AddressRecord),
  cc: z.array(AddressRecord),
  bcc: z
    .array(AddressRecord)
    .describe('Only for callers with the level send at the mailbox, and of keys with mail.send'),
  reply_to: z.array(AddressRecord),
  subject: z.string(),
  body_text: nullable(z.string()),
  body_html: nullable(z.string()).describe('Sanitized'),
  text_new: nullable(z.string()).describe('Without the quoted mail'),
  html_new: nullable(z.string()),
  extraction: nullable(
    z.object({ method: z.string(), confidence: z.number(), language: nullable(z.string()) }),
  ),
  message_id_header: nullable(z.string()).describe('RFC 5322 msg-id without angle brackets'),
  in_reply_to: nullable(z.string()),
  references: z.array(z.string()),
  headers: nullable(z.record(z.string(), z.array(z.string()))).describe(
    'Only with include=headers',
  ),
  attachments: z.array(AttachmentRecord),
  authentication: nullable(
    z.object({ spf: verdict, dkim: verdict, dmarc: verdict, arc: verdict, tls: verdict }),
  ),
  kind: nullable(z.enum(['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn'])),
  flags: z.object({
    auto_generated: z.boolean(),
    list_mail: z.boolean(),
    bounce: z.boolean(),
    out_of_office: z.boolean(),
    encrypted: z.boolean(),
    signed: z.boolean(),
  }),
  safety: nullable(z.object({ score: z.number(), signals: z.array(z.unknown()) })),
  author: z.object({
    type: z.enum(['user', 'agent', 'rule', 'api_key', 'external', 'system']),
    id: nullable(z.string()),
    name: z.string(),
    run_id: nullable(z.string()),
  }),
  delivery: nullable(
    z.object({
      recipients: z.array(RecipientDelivery),
      attempts: z.int(),
      next_attempt_at: nullable(timestamp),
    }),
  ),
  mentions: z.array(z.string()),
  unread: z.boolean(),
  send_at: nullable(timestamp),
  sent_at: nullable(timestamp),
  received_at: nullable(timestamp),
  opened_at: nullable(timestamp),
  raw_url_expires_at: z
    .null()
    .describe('The original needs no link of its own: GET …/messages/{mid}/raw with the same key'),
  labels: z.array(z.string()),
  size_bytes: z.int(),
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
  actor: z.object({ type: z.string(), id: nullable(z.string()), name: z.string() }),
  reason: nullable(z.string()),
  run_id: nullable(z.string()),
});

export const LabelRecord = z.object({
  id,
  name: z.string(),
  color: nullable(z.string()),
  description: nullable(z.string()),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Why mail that is due waits: somebody has stopped it, and it goes on when they let it. */
const STOPPED_BY = ['mailbox_disabled', 'organization_suspended', 'outgoing_held'] as const;

/** The answer to compose, reply and forward. */
export const SubmissionReceipt = z.object({
  id: id.describe('The message; also the outbox entry'),
  conversation_id: id,
  mailbox_id: id,
  status: z.enum(['queued', 'sent']),
  hold: nullable(
    z.object({
      reason: z.enum(['scheduled', 'undo', 'approval', 'quota']),
      until: nullable(timestamp),
    }),
  ),
  approval_id: nullable(id),
  send_at: nullable(timestamp),
  undo_until: nullable(timestamp),
  recipients: z.object({
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
  }),
  suppressed: z.array(z.object({ email: z.string(), reason: z.string() })),
  warnings: z.array(z.string()),
  message_id_header: z.string(),
});

export const SubmissionPreview = z.object({
  mailbox_id: id,
  from: AddressRecord,
  subject: z.string(),
  recipients: SubmissionReceipt.shape.recipients,
  body_text: nullable(z.string()),
  body_html: nullable(z.string()),
  signature: nullable(z.object({ id, name: z.string() })),
  size_bytes: z.int().describe('After encoding'),
  hold: SubmissionReceipt.shape.hold,
  send_at: nullable(timestamp),
  suppressed: SubmissionReceipt.shape.suppressed,
  warnings: z.array(z.string()),
});

export const OutboxEntryRecord = z.object({
  id,
  conversation_id: id,
  mailbox_id: id,
  subject: z.string(),
  status: z.enum(MESSAGE_STATUSES),
  hold: nullable(
    z.object({
      reason: z.enum(['scheduled', 'undo', 'approval', 'quota', ...STOPPED_BY]),
      until: nullable(timestamp),
    }),
  ),
  send_at: nullable(timestamp),
  undo_until: nullable(timestamp),
  recipients: z.array(RecipientDelivery),
  attempts: z.int(),
  next_attempt_at: nullable(timestamp),
  author: MessageRecord.shape.author,
  template: nullable(z.object({ id, version: z.int() })).describe('What its text was made of'),
  created_at: timestamp,
  updated_at: timestamp,
});

export const DraftRecord = z.object({
  id,
  mailbox_id: id,
  conversation_id: nullable(id),
  kind: z.enum(['compose', 'reply']),
  reply_mode: nullable(z.enum(['sender', 'all', 'custom'])),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  reply_to: z.array(z.string()),
  subject: nullable(z.string()),
  body_text: nullable(z.string()),
  body_html: nullable(z.string()),
  template_id: nullable(id),
  template_variables: z
    .record(z.string(), z.unknown())
    .describe('Given to the template when the draft is sent'),
  attachment_tokens: z.array(z.string()),
  signature_id: nullable(id),
  send_at: nullable(timestamp),
  undo_seconds: nullable(z.int()),
  quote_original: z.boolean(),
  labels: z.array(z.string()),
  metadata,
  author: z.object({ type: z.string(), id: nullable(z.string()), name: z.string() }),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

export const SignatureRecord = z.object({
  id,
  name: z.string(),
  body_html: z.string(),
  body_text: z.string(),
  mailbox_id: nullable(id),
  is_default: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const UploadRecord = z.object({
  token: z.string(),
  filename: z.string(),
  content_type: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  scan_status: z.enum(['not_scanned', 'pending', 'clean', 'infected', 'unscannable']),
  content_id: nullable(z.string()),
  expires_at: timestamp,
});

export const ImportRecord = z.object({
  id,
  mailbox_id: id,
  status: z.enum(['running', 'done', 'failed']),
  received: z.int().describe('Messages seen in the stream'),
  stored: z.int(),
  duplicates: z.int(),
  failed: z.array(z.object({ index: z.int(), reason: z.string() })),
  created_at: timestamp,
  updated_at: timestamp,
});

export const SearchHitRecord = z.object({
  type: z.enum(['conversation', 'message']),
  id,
  conversation_id: id,
  mailbox_id: id,
  subject: z.string(),
  preview: z.string(),
  at: timestamp,
  score: z.number(),
  highlights: z.record(z.string(), z.array(z.string())),
});

/** One result per id of a bulk change; `status` is the HTTP status the single change would have had. */
export const BulkResultRecord = z.object({
  results: z.array(z.object({ id: z.string(), status: z.int(), error: nullable(z.string()) })),
});

export type AddressRecord = z.infer<typeof AddressRecord>;
export type MailboxSettings = z.infer<typeof MailboxSettings>;
export type MailboxRecord = z.infer<typeof MailboxRecord>;
export type AssignmentsRecord = z.infer<typeof AssignmentsRecord>;
export type ConversationRecord = z.infer<typeof ConversationRecord>;
export type AttachmentRecord = z.infer<typeof AttachmentRecord>;
export type MessageRecord = z.infer<typeof MessageRecord>;
export type RecipientDelivery = z.infer<typeof RecipientDelivery>;
export type ActivityRecord = z.infer<typeof ActivityRecord>;
export type LabelRecord = z.infer<typeof LabelRecord>;
export type SubmissionReceipt = z.infer<typeof SubmissionReceipt>;
export type SubmissionPreview = z.infer<typeof SubmissionPreview>;
export type OutboxEntryRecord = z.infer<typeof OutboxEntryRecord>;
export type DraftRecord = z.infer<typeof DraftRecord>;
export type SignatureRecord = z.infer<typeof SignatureRecord>;
export type UploadRecord = z.infer<typeof UploadRecord>;
export type ImportRecord = z.infer<typeof ImportRecord>;
export type SearchHitRecord = z.infer<typeof SearchHitRecord>;
export type BulkResultRecord = z.infer<typeof BulkResultRecord>;
