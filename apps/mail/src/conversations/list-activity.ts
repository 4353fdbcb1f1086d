import type { ActivityRecord } from '@dak/contracts/api';
import type { ListActivityRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { type ActivityRow, selectActivityPage } from './activity-store';
import type { ConversationDeps } from './conversation-deps';
import { loadConversation } from './visible-conversation-store';

/** What happened to the conversation, newest first. */
export async function listActivity(
  { database, cursorKey }: Pick<ConversationDeps, 'database' | 'cursorKey'>,
  request: ListActivityRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = {
    organizationId,
    list: 'activity',
    filter: { conversation: request.conversationId },
  };
  const window = pageWindow(cursorKey, scope, request.page);
  return database.inTenant(organizationId, async (tx) => {
    const conversation = await loadConversation(tx, principal, request.conversationId, 'read');
    const { rows, total } = await selectActivityPage(tx, organizationId, conversation.id, {
      limit: window.perPage + 1,
      offset: window.offset,
      after: window.after,
    });
    return pageOf(
      cursorKey,
      scope,
      window,
      rows,
      { count: total, isEstimate: false },
      (shown) => jsonBytes(shown.map(activityRecord)),
      (row) => [row.at, row.id],
    );
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
