import type { AttachmentRecord, MessageRecord } from '@dak/contracts/api';
import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { deliverySummaries } from './delivery-summary-store';
import type { AttachmentRow, MessageRow } from './message-row';
import { selectAttachments } from './message-store';

/** The public records of these messages, in order; `headers` stay null. */
export async function messageRecords(
  tx: SqlExecutor,
  principal: Principal,
  rows: readonly MessageRow[],
  includeBcc: boolean,
): Promise<MessageRecord[]> {
  const ids = rows.map((row) => row.id);
  const outbound = rows.filter((row) => row.direction === 'outbound').map((row) => row.id);
  const attachments = await selectAttachments(tx, principal.organizationId, ids);
  const deliveries =
    outbound.length === 0
      ? new Map<string, NonNullable<MessageRecord['delivery']>>()
      : await deliverySummaries(tx, principal.organizationId, outbound, includeBcc);
  return rows.map((row) => ({
    id: row.id,
    conversation_id: row.conversation_id,
    mailbox_id: row.mailbox_id,
    direction: row.direction,
    status: row.status,
    from: row.from_address,
    to: row.to_addresses,
    cc: row.cc_addresses,
    bcc: includeBcc ? row.bcc_addresses : [],
    reply_to: row.reply_to,
    subject: row.subject,
    body_text: row.body_text,
    body_html: row.body_html,
    text_new: row.text_new,
    html_new: row.html_new,
    extraction: row.extraction,
    message_id_header: row.message_id_header,
    in_reply_to: row.in_reply_to,
    references: row.reference_ids,
    headers: null,
    attachments: (attachments.get(row.id) ?? []).map(attachmentRecord),
    authentication: row.authentication,
    kind: row.kind,
    flags: {
      auto_generated: row.flags.auto_generated ?? false,
      list_mail: row.flags.list_mail ?? false,
      bounce: row.flags.bounce ?? false,
      out_of_office: row.flags.out_of_office ?? false,
      encrypted: row.flags.encrypted ?? false,
      signed: row.flags.signed ?? false,
    },
    safety: row.safety,
    author: {
      type: row.author_type,
      id: row.author_id,
      name: row.author_name,
      run_id: row.author_run_id,
    },
    delivery: deliveries.get(row.id) ?? null,
    mentions: row.mentions,
    unread: row.unread,
    send_at: row.send_at,
    sent_at: row.sent_at,
    received_at: row.received_at,
    opened_at: row.opened_at,
    raw_url_expires_at: null,
    labels: row.labels,
    size_bytes: row.size_bytes,
    created_at: row.created_at,
    updated_at: row.updated_at,
    version: row.version,
  }));
}

function attachmentRecord(row: AttachmentRow): AttachmentRecord {
  return {
    id: row.id,
    filename: row.filename,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    sha256: row.sha256,
    disposition: row.disposition,
    content_id: row.content_id,
    scan: { status: row.scan_status, engine: null, at: null },
    // No route gives the text of a file yet.
    text_available: false,
  };
}
