import type { SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../../db/sql-parameters';
import type { DraftRow } from './draft';

/** For `from draft d`. */
export const DRAFT_COLUMNS = `d.id, d.mailbox_id, d.conversation_id, d.kind, d.reply_mode, d.to_recipients, d.cc_recipients,
  d.bcc_recipients, d.reply_to, d.subject, d.body_text, d.body_html, d.attachment_tokens, d.sets_signature, d.signature_id,
  d.signature_position, d.send_at, d.send_window, d.cancel_if_reply, d.undo_seconds, d.quote_original,
  d.expected_last_message_id, d.labels, d.metadata, d.template_id, d.template_variables, d.author_type, d.author_id, d.author_name, d.version, d.created_at,
  d.updated_at`;

/** Also makes it the open draft of its conversation. */
export async function insertDraft(
  tx: SqlExecutor,
  organizationId: string,
  row: DraftRow,
): Promise<void> {
  const json = JSON.stringify([{ ...row, organization_id: organizationId }], storable);
  await tx.query('insert into draft select r.* from json_populate_recordset(null::draft, $1) r', [
    json,
  ]);
  await setOpenDraft(tx, organizationId, row.conversation_id);
}

export async function updateDraftRow(
  tx: SqlExecutor,
  organizationId: string,
  row: DraftRow,
): Promise<void> {
  const json = JSON.stringify([{ ...row, organization_id: organizationId }], storable);
  await tx.query(
    `update draft d
        set (mailbox_id, reply_mode, to_recipients, cc_recipients, bcc_recipients, reply_to, subject, body_text, body_html,
             attachment_tokens, sets_signature, signature_id, signature_position, send_at, send_window, cancel_if_reply,
             undo_seconds, quote_original, expected_last_message_id, labels, metadata, template_id,
             template_variables, version, updated_at) =
            (r.mailbox_id, r.reply_mode, r.to_recipients, r.cc_recipients, r.bcc_recipients, r.reply_to, r.subject,
             r.body_text, r.body_html, r.attachment_tokens, r.sets_signature, r.signature_id, r.signature_position,
             r.send_at, r.send_window, r.cancel_if_reply, r.undo_seconds, r.quote_original, r.expected_last_message_id,
             r.labels, r.metadata, r.template_id, r.template_variables, r.version, r.updated_at)
       from json_populate_recordset(null::draft, $2) r
      where d.organization_id = $1 and d.id = r.id`,
    [organizationId, json],
  );
}

/** False when it is gone or no longer the version that `row` is. */
export async function deleteDraftRow(
  tx: SqlExecutor,
  organizationId: string,
  row: Pick<DraftRow, 'id' | 'conversation_id' | 'version'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'delete from draft where organization_id = $1 and id = $2 and version = $3',
    [organizationId, row.id, row.version],
  );
  await setOpenDraft(tx, organizationId, row.conversation_id);
  return rowCount > 0;
}

/** The newest draft of a conversation is the one it shows. */
async function setOpenDraft(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string | null,
): Promise<void> {
  if (conversationId === null) return;
  await tx.query(
    `update conversation c
        set open_draft_id = (select d.id from draft d
                              where d.organization_id = $1 and d.conversation_id = $2
                              order by d.updated_at desc, d.id desc
                              limit 1)
      where c.organization_id = $1 and c.id = $2`,
    [organizationId, conversationId],
  );
}
