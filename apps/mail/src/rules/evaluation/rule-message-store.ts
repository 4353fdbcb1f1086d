import { NotFoundError } from '@dak/kernel';
import type { MessageRecord } from '@dak/contracts/api';
import type { BlobStore } from '@dak/platform/blobs';
import type { SqlExecutor } from '@dak/platform/postgres';
import { shownHeaders } from '../../conversations/messages/blind-copies';
import { selectAttachments } from '../../conversations/messages/message-store';
import { readHeaders } from '../../conversations/messages/raw-message';
import { detectLanguage } from './detect-language';
import type { NeededFacts, RuleMessage } from '../definition/rule-fields';

/** Characters of a text that rules examine. */
const MAX_TEXT = 262_144;
const SENDER = `lower(left(m.from_address ->> 'email', 320))`;

interface MessageRow {
  id: string;
  mailbox_id: string;
  mailbox_address: string;
  time_zone: string;
  conversation_id: string;
  labels: string[];
  kind: MessageRecord['kind'];
  from_address: MessageRecord['from'];
  to_addresses: MessageRecord['to'];
  cc_addresses: MessageRecord['cc'];
  reply_to: MessageRecord['reply_to'];
  subject: string;
  text_new: string | null;
  body_text: string | null;
  size_bytes: number;
  authentication: MessageRecord['authentication'];
  flags: {
    auto_generated?: boolean;
    list_mail?: boolean;
    no_auto_reply?: boolean;
    empty_reverse_path?: boolean;
  };
  received_at: string;
  raw_sha256: string | null;
  message_id_header: string | null;
  is_first_contact: boolean;
}

/** A received message as it is stored. */
export interface StoredRuleMessage extends RuleMessage {
  readonly rawSha256: string | null;
  /** Its conversation's labels at the time of loading. */
  readonly labels: readonly string[];
}

/** The received ones among these messages, by id; texts, headers and files as far as they are needed. */
export async function loadRuleMessages(
  tx: SqlExecutor,
  blobs: BlobStore,
  organizationId: string,
  ids: readonly string[],
  needed: NeededFacts,
): Promise<Map<string, StoredRuleMessage>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<MessageRow>(
    `select m.id, m.mailbox_id, b.address as mailbox_address,
            coalesce(nullif(b.settings ->> 'time_zone', ''), o.time_zone, 'UTC') as time_zone,
            m.conversation_id, c.labels, m.kind, m.from_address, m.to_addresses, m.cc_addresses, m.reply_to, m.subject,
            case when $3 then left(m.text_new, ${MAX_TEXT}) end as text_new,
            case when $3 then left(m.body_text, ${MAX_TEXT}) end as body_text,
            m.size_bytes, m.authentication, m.flags, coalesce(m.received_at, m.sort_at) as received_at,
            m.raw_sha256, m.message_id_header, coalesce(s.first_message_id = m.id, false) as is_first_contact
       from message m
       join mailbox b on b.organization_id = m.organization_id and b.id = m.mailbox_id
       join conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
       left join organization o on o.organization_id = m.organization_id
       left join sender_contact s on s.organization_id = m.organization_id and s.mailbox_id = m.mailbox_id
                                 and s.sender = ${SENDER}
      where m.organization_id = $1 and m.id = any($2::uuid[]) and m.direction = 'inbound'`,
    [organizationId, ids, needed.text],
  );
  const attachments = needed.attachments ? await selectAttachments(tx, organizationId, ids) : null;
  const messages = new Map<string, StoredRuleMessage>();
  for (const row of rows) {
    messages.set(row.id, {
      id: row.id,
      mailboxId: row.mailbox_id,
      mailboxAddress: row.mailbox_address,
      timeZone: row.time_zone,
      conversationId: row.conversation_id,
      kind: row.kind ?? 'human',
      from: row.from_address,
      to: row.to_addresses,
      cc: row.cc_addresses,
      replyTo: row.reply_to,
      subject: row.subject,
      textNew: row.text_new,
      text: row.body_text,
      attachments: (attachments?.get(row.id) ?? []).map((file) => ({
        filename: file.filename,
        contentType: file.content_type,
      })),
      sizeBytes: row.size_bytes,
      authentication: row.authentication,
      mayAutoReply: row.flags.no_auto_reply !== true,
      hasEmptyReversePath: row.flags.empty_reverse_path === true,
      listMail: row.flags.list_mail === true,
      receivedAt: Date.parse(row.received_at),
      isFirstContact: row.is_first_contact,
      language: needed.language ? detectLanguage(row.text_new ?? row.body_text) : null,
      headers: needed.headers
        ? await loadHeaders(blobs, organizationId, row.raw_sha256)
        : new Map(),
      messageIdHeader: row.message_id_header,
      rawSha256: row.raw_sha256,
      labels: row.labels,
    });
  }
  return messages;
}

/** Decoded values by lower-case name; empty for a message whose original is gone. */
export async function loadHeaders(
  blobs: BlobStore,
  organizationId: string,
  sha256: string | null,
): Promise<Map<string, string[]>> {
  const byName = new Map<string, string[]>();
  if (sha256 === null) return byName;
  try {
    // Rules act for people of every level: none of them knows of blind copies.
    const headers = shownHeaders(await readHeaders(blobs, organizationId, sha256));
    for (const [name, values] of Object.entries(headers)) {
      const key = name.toLowerCase();
      byName.set(key, [...(byName.get(key) ?? []), ...values]);
    }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  return byName;
}

/** Records first-time senders of a mailbox; known senders are unchanged. */
export async function rememberSenders(
  tx: SqlExecutor,
  organizationId: string,
  messageIds: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into sender_contact (organization_id, mailbox_id, sender, first_message_id)
     select distinct on (m.mailbox_id, ${SENDER}) m.organization_id, m.mailbox_id, ${SENDER}, m.id
       from message m
      where m.organization_id = $1 and m.id = any($2::uuid[]) and m.direction = 'inbound'
        and m.from_address ->> 'email' is not null
      order by m.mailbox_id, ${SENDER}, m.received_at, m.id
         on conflict do nothing`,
    [organizationId, messageIds],
  );
}

/** Where the messages are now; merging and splitting moves them. */
export async function selectConversationIds(
  tx: SqlExecutor,
  organizationId: string,
  messageIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; conversation_id: string }>(
    'select id, conversation_id from message where organization_id = $1 and id = any($2::uuid[])',
    [organizationId, messageIds],
  );
  return new Map(rows.map((row) => [row.id, row.conversation_id]));
}
