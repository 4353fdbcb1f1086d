import { z } from 'zod';
import { AddressRecord, id, timestamp } from '../record-shapes';

export const AttachmentRecord = z.object({
  id,
  filename: z.string(),
  content_type: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  disposition: z.enum(['attachment', 'inline']),
  content_id: z.string().nullable(),
  scan: z.object({
    status: z.enum(['not_scanned', 'pending', 'clean', 'infected', 'unscannable']),
    engine: z.string().nullable(),
    at: timestamp.nullable(),
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

const verdict = z.object({ result: z.string(), domain: z.string().nullable() });

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
  smtp_code: z.int().nullable(),
  diagnostic: z.string().nullable(),
  at: timestamp.nullable(),
});

export const MessageRecord = z.object({
  id,
  conversation_id: id,
  mailbox_id: id,
  direction: z.enum(['inbound', 'outbound', 'internal_note']),
  status: z.enum(MESSAGE_STATUSES),
  from: AddressRecord.nullable(),
  to: z.array(AddressRecord),
  cc: z.array(AddressRecord),
  bcc: z
    .array(AddressRecord)
    .describe('Only for callers with send access to the mailbox; API keys also need mail.send'),
  reply_to: z.array(AddressRecord),
  subject: z.string(),
  body_text: z.string().nullable(),
  body_html: z.string().nullable().describe('Sanitized'),
  text_new: z.string().nullable().describe('Without quoted mail'),
  html_new: z.string().nullable(),
  extraction: z
    .object({ method: z.string(), confidence: z.number(), language: z.string().nullable() })
    .nullable(),
  message_id_header: z.string().nullable().describe('RFC 5322 msg-id without angle brackets'),
  in_reply_to: z.string().nullable(),
  references: z.array(z.string()),
  headers: z
    .record(z.string(), z.array(z.string()))
    .nullable()
    .describe('Only with include=headers'),
  attachments: z.array(AttachmentRecord),
  authentication: z
    .object({ spf: verdict, dkim: verdict, dmarc: verdict, arc: verdict, tls: verdict })
    .nullable(),
  kind: z.enum(['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn']).nullable(),
  flags: z.object({
    auto_generated: z.boolean(),
    list_mail: z.boolean(),
    bounce: z.boolean(),
    out_of_office: z.boolean(),
    encrypted: z.boolean(),
    signed: z.boolean(),
  }),
  safety: z.object({ score: z.number(), signals: z.array(z.unknown()) }).nullable(),
  author: z.object({
    type: z.enum(['user', 'agent', 'rule', 'api_key', 'external', 'system']),
    id: z.string().nullable(),
    name: z.string(),
    run_id: z.string().nullable(),
  }),
  delivery: z
    .object({
      recipients: z.array(RecipientDelivery),
      attempts: z.int(),
      next_attempt_at: timestamp.nullable(),
    })
    .nullable(),
  mentions: z.array(z.string()),
  unread: z.boolean(),
  send_at: timestamp.nullable(),
  sent_at: timestamp.nullable(),
  received_at: timestamp.nullable(),
  opened_at: timestamp.nullable(),
  raw_url_expires_at: z
    .null()
    .describe('The original has no link here: fetch GET …/messages/{mid}/raw with the same key'),
  labels: z.array(z.string()),
  size_bytes: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

export type AttachmentRecord = z.infer<typeof AttachmentRecord>;
export type MessageRecord = z.infer<typeof MessageRecord>;
export type RecipientDelivery = z.infer<typeof RecipientDelivery>;
