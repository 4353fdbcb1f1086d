import type { ActivityRecord } from '@dak/contracts/api';
import type { ListActivityRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
import { type ActivityRow, selectActivityPage } from './activity-store';
import type { ConversationDeps } from './conversation-deps';
import { loadConversation } from './visible-conversation-store';

/** What happened to the conversation, newest first. */
export function listActivity(
  { database, cursorKey }: Pick<ConversationDeps, 'database' | 'cursorKey'>,
  { conversationId: id, page }: ListActivityRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  return listPage(cursorKey, page, {
    scope: { organizationId, list: 'activity', filter: { conversation: id } },
    select: (window) =>
      database.inTenant(organizationId, async (tx) => {
        const conversation = await loadConversation(tx, principal, id, 'read');
        return selectActivityPage(tx, organizationId, conversation.id, window);
      }),
    recordOf: activityRecord,
    positionOf: (row) => [row.at, row.id],
  });
}

function activityRecord(row: ActivityRow): ActivityRecord {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    at: row.at,
    type: row.type,
    from: row.before,
    to: row.after,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    reason: row.reason,
    run_id: row.run_id,
  };
}
