import type { DraftRecord } from '@dak/contracts/api';
import type { SendWindow } from '../submissions/send-window';
import type { DraftContent } from '../submissions/submission-store';

/** A row of `draft`; times are RFC 3339 UTC. */
export interface DraftRow {
  id: string;
  mailbox_id: string;
  conversation_id: string | null;
  kind: 'compose' | 'reply';
  reply_mode: 'sender' | 'all' | 'custom' | null;
  to_recipients: string[];
  cc_recipients: string[];
  bcc_recipients: string[];
  reply_to: string[];
  subject: string | null;
  body_text: string | null;
  body_html: string | null;
  template_id: string | null;
  template_variables: DraftRecord['template_variables'] | null;
  attachment_tokens: string[];
  sets_signature: boolean;
  signature_id: string | null;
  signature_position: string | null;
  send_at: string | null;
  send_window: SendWindow | null;
  cancel_if_reply: boolean;
  undo_seconds: number | null;
  quote_original: boolean;
  expected_last_message_id: string | null;
  labels: string[];
  metadata: DraftRecord['metadata'];
  author_type: string;
  author_id: string | null;
  author_name: string;
  version: number;
  created_at: string;
  updated_at: string;
}

export function renderDraft(row: DraftRow): DraftRecord {
  return {
    id: row.id,
    mailbox_id: row.mailbox_id,
    conversation_id: row.conversation_id,
    kind: row.kind,
    reply_mode: row.reply_mode,
    to: row.to_recipients,
    cc: row.cc_recipients,
    bcc: row.bcc_recipients,
    reply_to: row.reply_to,
    subject: row.subject,
    body_text: row.body_text,
    body_html: row.body_html,
    template_id: row.template_id,
    template_variables: row.template_variables ?? {},
    attachment_tokens: row.attachment_tokens,
    signature_id: row.signature_id,
    send_at: row.send_at,
    undo_seconds: row.undo_seconds,
    quote_original: row.quote_original,
    labels: row.labels,
    metadata: row.metadata,
    author: { type: row.author_type, id: row.author_id, name: row.author_name },
    created_at: row.created_at,
    updated_at: row.updated_at,
    version: row.version,
  };
}

/** The fields of a draft that come from mail which was taken back; it waits for no time any more. */
export function openDraftOf(content: DraftContent) {
  return {
    kind: content.kind,
    reply_mode: content.reply_mode,
    reply_to: content.reply_to,
    subject: content.subject,
    body_text: content.body_text,
    body_html: content.body_html,
    // The undone mail had the template's text.
    template_id: null,
    template_variables: null,
    sets_signature: content.sets_signature,
    signature_id: content.signature_id,
    signature_position: content.signature_position,
    send_at: null,
    send_window: null,
    undo_seconds: content.undo_seconds,
    quote_original: content.quote_original,
    expected_last_message_id: null,
    labels: content.labels,
    metadata: content.metadata,
  } satisfies Partial<DraftRow>;
}
