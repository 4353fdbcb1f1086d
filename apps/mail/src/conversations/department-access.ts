import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from './conversation-row';
import { loadConversation } from './visible-conversation-store';

/**
 * Members of a conversation's department may send there. So setting, changing or removing it
 * requires that level; otherwise a caller with write access could raise their own.
 * @throws ForbiddenError `missing_access`
 */
export async function requireDepartmentAccess(
  tx: SqlExecutor,
  principal: Principal,
  before: ConversationRow,
  after: Pick<ConversationRow, 'department_id'>,
): Promise<void> {
  if (after.department_id === before.department_id) return;
  await loadConversation(tx, principal, before.id, 'send');
}
