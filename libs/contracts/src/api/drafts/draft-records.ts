import { z } from 'zod';
import { id, metadata, timestamp } from '../record-shapes';

export const DraftRecord = z.object({
  id,
  mailbox_id: id,
  conversation_id: id.nullable(),
  kind: z.enum(['compose', 'reply']),
  reply_mode: z.enum(['sender', 'all', 'custom']).nullable(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  reply_to: z.array(z.string()),
  subject: z.string().nullable(),
  body_text: z.string().nullable(),
  body_html: z.string().nullable(),
  template_id: id.nullable(),
  template_variables: z
    .record(z.string(), z.unknown())
    .describe('Passed to the template when the draft is sent'),
  attachment_tokens: z.array(z.string()),
  signature_id: id.nullable(),
  send_at: timestamp.nullable(),
  undo_seconds: z.int().nullable(),
  quote_original: z.boolean(),
  labels: z.array(z.string()),
  metadata,
  author: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

export type DraftRecord = z.infer<typeof DraftRecord>;
