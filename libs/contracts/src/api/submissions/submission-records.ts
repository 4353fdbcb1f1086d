import { z } from 'zod';
import { AddressRecord, id, timestamp } from '../record-shapes';

/** The answer to compose, reply and forward. */
export const SubmissionReceipt = z.object({
  id: id.describe('The message; also the outbox entry'),
  conversation_id: id,
  mailbox_id: id,
  status: z.enum(['queued', 'sent']),
  hold: z
    .object({
      reason: z.enum(['scheduled', 'undo', 'approval', 'quota']),
      until: timestamp.nullable(),
    })
    .nullable(),
  approval_id: id.nullable(),
  send_at: timestamp.nullable(),
  undo_until: timestamp.nullable(),
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
  body_text: z.string().nullable(),
  body_html: z.string().nullable(),
  signature: z.object({ id, name: z.string() }).nullable(),
  size_bytes: z.int().describe('After encoding'),
  hold: SubmissionReceipt.shape.hold,
  send_at: timestamp.nullable(),
  suppressed: SubmissionReceipt.shape.suppressed,
  warnings: z.array(z.string()),
});

export type SubmissionReceipt = z.infer<typeof SubmissionReceipt>;
export type SubmissionPreview = z.infer<typeof SubmissionPreview>;
