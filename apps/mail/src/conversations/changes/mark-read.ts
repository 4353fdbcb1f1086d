import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from '../conversation-row';
import { setUnread } from '../messages/message-store';

/** Marks every inbound message of the conversation, and says what that makes of it. */
export async function markRead(
  tx: SqlExecutor,
  organizationId: string,
  row: ConversationRow,
  unread: boolean,
): Promise<ConversationRow> {
  const changed = await setUnread(tx, organizationId, row.id, unread);
  const unreadCount = unread ? row.unread_count + changed : row.unread_count - changed;
  const others = row.system_labels.filter((label) => label !== 'unread');
  return {
    ...row,
    unread_count: unreadCount,
    system_labels: unreadCount > 0 ? ['unread', ...others] : others,
  };
}
