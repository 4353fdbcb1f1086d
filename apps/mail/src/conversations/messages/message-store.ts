import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters, storable } from '../../db/sql-parameters';
import { searchVector } from '../search/search-vector';
import { type AttachmentRow, MESSAGE_COLUMNS, type MessageRow } from './message-row';
import type { NewMessage } from './new-message';

const COLUMNS = `organization_id uuid, id uuid, conversation_id uuid, mailbox_id uuid, direction text, status text, kind text,
  from_address jsonb, to_addresses jsonb, cc_addresses jsonb, bcc_addresses jsonb, reply_to jsonb, subject text,
  base_subject text, body_text text, body_html text, text_new text, html_new text, extraction jsonb, preview text,
  message_id_header text, in_reply_to text, reference_ids text[], authentication jsonb, flags jsonb, safety jsonb,
  author_type text, author_id text, author_name text, author_run_id text, mentions text[], unread boolean, labels text[],
  raw_sha256 text, size_bytes bigint, attachment_count integer, dedupe_key bytea, parser_version integer,
  sort_at timestamptz, send_at timestamptz, sent_at timestamptz, received_at timestamptz, created_at timestamptz,
  updated_at timestamptz, search tsvector`;
const NAMES = COLUMNS.split(',')
  .map((column) => column.trim().split(' ')[0])
  .join(', ');

/**
 * Stores the messages that are not there yet (by dedupe_key) and returns their ids. Their
 * conversations may follow in the same transaction.
 * @param at RFC 3339 UTC
 */
export async function insertMessages(
  tx: SqlExecutor,
  organizationId: string,
  messages: readonly NewMessage[],
  at: string,
): Promise<Set<string>> {
  const json = JSON.stringify(
    messages.map((message) => toColumns(organizationId, message, at)),
    storable,
  );
  const { rows } = await tx.query<{ id: string }>(
    `insert into message (${NAMES})
     select ${NAMES} from json_to_recordset($1) as r(${COLUMNS})
         on conflict (organization_id, mailbox_id, dedupe_key) where dedupe_key is not null do nothing
  returning id`,
    [json],
  );
  return new Set(rows.map((row) => row.id));
}

export async function insertAttachments(
  tx: SqlExecutor,
  organizationId: string,
  messages: readonly NewMessage[],
): Promise<void> {
  const rows = messages.flatMap((message) =>
    message.attachments.map((attachment, position) => ({
      organization_id: organizationId,
      id: attachment.id,
      message_id: message.id,
      position,
      filename: attachment.filename,
      content_type: attachment.contentType,
      size_bytes: attachment.sizeBytes,
      sha256: attachment.sha256,
      disposition: attachment.disposition,
      content_id: attachment.contentId,
      scan_status: 'not_scanned',
    })),
  );
  if (rows.length === 0) return;
  await tx.query(insertOfRows('attachment', rows), [JSON.stringify(rows, storable)]);
}

/** The stored messages that stood in the way, by hexadecimal dedupe_key and mailbox. */
export async function selectByDedupeKey(
  tx: SqlExecutor,
  organizationId: string,
  keys: readonly { mailboxId: string; dedupeKey: string }[],
): Promise<{ id: string; conversation_id: string; mailbox_id: string; dedupe_key: string }[]> {
  const { rows } = await tx.query<{
    id: string;
    conversation_id: string;
    mailbox_id: string;
    dedupe_key: string;
  }>(
    `select m.id, m.conversation_id, m.mailbox_id, encode(m.dedupe_key, 'hex') as dedupe_key
       from json_to_recordset($2) as k("mailboxId" uuid, "dedupeKey" text)
       join message m on m.organization_id = $1 and m.mailbox_id = k."mailboxId"
                     and m.dedupe_key = decode(k."dedupeKey", 'hex')`,
    [organizationId, JSON.stringify(keys)],
  );
  return rows;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function toColumns(organizationId: string, message: NewMessage, at: string): object {
  return {
    organization_id: organizationId,
    id: message.id,
    conversation_id: message.conversation.id,
    mailbox_id: message.mailboxId,
    direction: message.direction,
    status: message.status,
    kind: message.kind,
    from_address: message.from,
    to_addresses: message.to,
    cc_addresses: message.cc,
    bcc_addresses: message.bcc,
    reply_to: message.replyTo,
    subject: message.subject,
    base_subject: message.baseSubject,
    body_text: message.bodyText,
    body_html: message.bodyHtml,
    text_new: message.textNew,
    html_new: message.htmlNew,
    extraction: message.extraction,
    preview: message.preview,
    message_id_header: message.messageIdHeader,
    in_reply_to: message.inReplyTo,
    reference_ids: message.references,
    authentication: message.authentication,
    flags: message.flags,
    safety: message.safety,
    author_type: message.author.type,
    author_id: message.author.id,
    author_name: message.author.name,
    author_run_id: message.author.runId,
    mentions: message.mentions,
    unread: message.unread,
    labels: message.labels,
    raw_sha256: message.rawSha256,
    size_bytes: message.sizeBytes,
    attachment_count: message.attachments.length,
    dedupe_key: message.dedupeKey === null ? null : `\\x${hex(message.dedupeKey)}`,
    parser_version: message.parserVersion ?? 1,
    sort_at: message.sortAt,
    send_at: message.sendAt,
    sent_at: message.sentAt,
    received_at: message.receivedAt,
    created_at: at,
    updated_at: at,
    search: searchVector({
      organizationId,
      mailboxId: message.mailboxId,
      subject: message.subject,
      from: message.from,
      recipients: [...message.to, ...message.cc],
      body: message.textNew ?? message.bodyText ?? '',
    }),
  };
}

/** Sets it on all inbound messages of a conversation. @returns how many changed */
export async function setUnread(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
  unread: boolean,
): Promise<number> {
  const { rowCount } = await tx.query(
    `update message set unread = $3, version = version + 1, updated_at = now()
      where organization_id = $1 and conversation_id = $2 and direction = 'inbound' and unread <> $3`,
    [organizationId, conversationId, unread],
  );
  return rowCount;
}

/** Of mailboxes. */
export async function selectAddresses(
  tx: SqlExecutor,
  organizationId: string,
  mailboxIds: readonly string[],
): Promise<{ id: string; address: string }[]> {
  const { rows } = await tx.query<{ id: string; address: string }>(
    'select id, address from mailbox where organization_id = $1 and id = any($2::uuid[])',
    [organizationId, mailboxIds],
  );
  return rows;
}

/** Oldest first. */
export async function selectMessagePage(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
  window: { limit: number; offset: number; after: readonly unknown[] | null },
): Promise<{ rows: MessageRow[]; total: number }> {
  const parameters = new SqlParameters();
  const organization = parameters.add(organizationId);
  const conversation = parameters.add(conversationId);
  const after =
    window.after === null
      ? ''
      : `and (m.sort_at, m.id) > (${parameters.add(window.after[0])}::timestamptz, ${parameters.add(window.after[1])}::uuid)`;
  const { rows } = await tx.query<MessageRow>(
    `select ${MESSAGE_COLUMNS}
       from message m
      where m.organization_id = ${organization} and m.conversation_id = ${conversation} ${after}
      order by m.sort_at, m.id
      limit ${parameters.add(window.limit)} offset ${parameters.add(window.offset)}`,
    parameters.values,
  );
  const { rows: counts } = await tx.query<{ total: number }>(
    'select count(*) as total from message where organization_id = $1 and conversation_id = $2',
    [organizationId, conversationId],
  );
  return { rows, total: counts[0]?.total ?? 0 };
}

export async function selectMessage(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
  messageId: string,
): Promise<MessageRow | null> {
  const { rows } = await tx.query<MessageRow>(
    `select ${MESSAGE_COLUMNS}
       from message m
      where m.organization_id = $1 and m.conversation_id = $2 and m.id = $3`,
    [organizationId, conversationId, messageId],
  );
  return rows[0] ?? null;
}

export async function selectAttachments(
  tx: SqlExecutor,
  organizationId: string,
  messageIds: readonly string[],
): Promise<Map<string, AttachmentRow[]>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<AttachmentRow>(
    `select message_id, id, filename, content_type, size_bytes, sha256, disposition, content_id, scan_status
       from attachment
      where organization_id = $1 and message_id = any($2::uuid[])
      order by message_id, position`,
    [organizationId, messageIds],
  );
  return Map.groupBy(rows, (row) => row.message_id);
}
