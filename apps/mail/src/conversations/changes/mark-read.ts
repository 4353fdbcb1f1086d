import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from '../conversation-row';

/** Marks every inbound message of the conversation, and says what that makes of it. */
export async function markRead(
  tx: SqlExecutor,
  organizationId: string,
  row: ConversationRow,
  unread: boolean,
): Promise<ConversationRow> {
  const { rowCount } = await tx.query(
    `update message set unread = $3, version = version + 1, updated_at = now()
      where organization_id = $1 and conversation_id = $2 and direction = 'inbound' and unread <> $3`,
    [organizationId, row.id, unread],
  );
  const unreadCount = unread ? row.unread_count + rowCount : row.unread_count - rowCount;
  const others = row.system_labels.filter((label) => label !== 'unread');
  return {
    ...row,
    unread_count: unreadCount,
    system_labels: unreadCount > 0 ? ['unread', ...others] : others,
  };
}
