import { z } from 'zod';
import { MESSAGE_STATUSES, MessageRecord, RecipientDelivery } from './messages/message-records';
import { AddressRecord, id, metadata, timestamp } from './record-shapes';

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable();

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

export type SubmissionReceipt = z.infer<typeof SubmissionReceipt>;
export type SubmissionPreview = z.infer<typeof SubmissionPreview>;
export type OutboxEntryRecord = z.infer<typeof OutboxEntryRecord>;
export type DraftRecord = z.infer<typeof DraftRecord>;
export type SignatureRecord = z.infer<typeof SignatureRecord>;
export type UploadRecord = z.infer<typeof UploadRecord>;
