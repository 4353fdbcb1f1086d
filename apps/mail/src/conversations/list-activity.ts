import type { ActivityRecord } from '@dak/contracts/api';
import type { ListActivityRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { SqlParameters } from '../db/sql-parameters';
import type { ConversationDeps } from './conversation-deps';
import { loadConversation } from './visible-conversation-store';

interface ActivityRow {
  id: string;
  conversation_id: string;
  at: string;
  type: string;
  before: unknown;
  after: unknown;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  reason: string | null;
  run_id: string | null;
}

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
    const parameters = new SqlParameters();
    const where = `a.organization_id = ${parameters.add(organizationId)}
               and a.conversation_id = ${parameters.add(conversation.id)}`;
    const { rows: counts } = await tx.query<{ total: number }>(
      `select count(*) as total from activity a where ${where}`,
      parameters.values,
    );
    const after =
      window.after === null
        ? ''
        : `and (a.at, a.id) < (${parameters.add(window.after[0])}::timestamptz, ${parameters.add(window.after[1])}::uuid)`;
    const { rows } = await tx.query<ActivityRow>(
      `select a.id, a.conversation_id, a.at, a.type, a.before, a.after, a.actor_type, a.actor_id, a.actor_name,
              a.reason, a.run_id
         from activity a
        where ${where} ${after}
        order by a.at desc, a.id desc
        limit ${parameters.add(window.perPage + 1)} offset ${parameters.add(window.offset)}`,
      parameters.values,
    );
    return pageOf(
      cursorKey,
      scope,
      window,
      rows,
      { count: counts[0]?.total ?? 0, isEstimate: false },
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
