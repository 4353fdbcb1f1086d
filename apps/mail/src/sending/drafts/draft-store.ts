import { tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../../db/sql-parameters';
import type { DraftRow } from './draft';

const DRAFT = tableColumns<DraftRow>('draft', {
  id: 'fixed',
  mailbox_id: 'changes',
  conversation_id: 'fixed',
  kind: 'fixed',
  reply_mode: 'changes',
  to_recipients: 'changes',
  cc_recipients: 'changes',
  bcc_recipients: 'changes',
  reply_to: 'changes',
  subject: 'changes',
  body_text: 'changes',
  body_html: 'changes',
  template_id: 'changes',
  template_variables: 'changes',
  attachment_tokens: 'changes',
  sets_signature: 'changes',
  signature_id: 'changes',
  signature_position: 'changes',
  send_at: 'changes',
  send_window: 'changes',
  cancel_if_reply: 'changes',
  undo_seconds: 'changes',
  quote_original: 'changes',
  expected_last_message_id: 'changes',
  labels: 'changes',
  metadata: 'changes',
  author_type: 'fixed',
  author_id: 'fixed',
  author_name: 'fixed',
  version: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
});

/** For `from draft d`. */
export const DRAFT_COLUMNS = DRAFT.list('d');

/** Also makes it the open draft of its conversation. */
export async function insertDraft(
  tx: SqlExecutor,
  organizationId: string,
  row: DraftRow,
): Promise<void> {
  const json = JSON.stringify([{ ...row, organization_id: organizationId }], storable);
  await tx.query(DRAFT.insert, [json]);
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
        set ${DRAFT.assignments('r')}
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
