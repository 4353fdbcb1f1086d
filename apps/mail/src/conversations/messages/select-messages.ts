import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import { MESSAGE_COLUMNS, type AttachmentRow, type MessageRow } from './message-row';

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
