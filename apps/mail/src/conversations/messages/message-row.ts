import type { AttachmentRecord, MessageRecord } from '@dak/contracts/api';

/** A message as it is read for showing; times are RFC 3339 UTC. */
export interface MessageRow {
  id: string;
  conversation_id: string;
  mailbox_id: string;
  direction: MessageRecord['direction'];
  status: MessageRecord['status'];
  kind: MessageRecord['kind'];
  from_address: MessageRecord['from'];
  to_addresses: MessageRecord['to'];
  cc_addresses: MessageRecord['cc'];
  bcc_addresses: MessageRecord['bcc'];
  reply_to: MessageRecord['reply_to'];
  subject: string;
  body_text: string | null;
  body_html: string | null;
  text_new: string | null;
  html_new: string | null;
  extraction: MessageRecord['extraction'];
  message_id_header: string | null;
  in_reply_to: string | null;
  reference_ids: string[];
  authentication: MessageRecord['authentication'];
  flags: Partial<MessageRecord['flags']>;
  safety: MessageRecord['safety'];
  author_type: MessageRecord['author']['type'];
  author_id: string | null;
  author_name: string;
  author_run_id: string | null;
  mentions: string[];
  unread: boolean;
  labels: string[];
  raw_sha256: string | null;
  size_bytes: number;
  sort_at: string;
  send_at: string | null;
  sent_at: string | null;
  received_at: string | null;
  opened_at: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/** For `from message m`. */
export const MESSAGE_COLUMNS = `m.id, m.conversation_id, m.mailbox_id, m.direction, m.status, m.kind, m.from_address,
  m.to_addresses, m.cc_addresses, m.bcc_addresses, m.reply_to, m.subject, m.body_text, m.body_html, m.text_new, m.html_new,
  m.extraction, m.message_id_header, m.in_reply_to, m.reference_ids, m.authentication, m.flags, m.safety, m.author_type,
  m.author_id, m.author_name, m.author_run_id, m.mentions, m.unread, m.labels, m.raw_sha256, m.size_bytes, m.sort_at,
  m.send_at, m.sent_at, m.received_at, m.opened_at, m.version, m.created_at, m.updated_at`;

export interface AttachmentRow {
  message_id: string;
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  disposition: AttachmentRecord['disposition'];
  content_id: string | null;
  scan_status: AttachmentRecord['scan']['status'];
}
