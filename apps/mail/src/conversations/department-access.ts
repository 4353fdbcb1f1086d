import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from './conversation-row';
import { loadConversation } from './visible-conversation-store';

/**
 * Whoever is in the department of a conversation may send there. So to give it one, to change or to take
 * it away needs that level: else a caller who may write could raise themselves.
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
