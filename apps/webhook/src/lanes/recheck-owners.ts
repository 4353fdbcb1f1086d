import type { Database } from '@dak/platform/postgres';
import { readableBy, type VisibilityClient } from '../visibility/readable-by';
import {
  cancelDeliveries,
  type QuestionedRow,
  selectQuestioned,
  type WaitingDelivery,
} from './waiting-store';

/**
 * Cancels what the owners of the endpoints may not read any more: one question per organization,
 * however many wait.
 * @returns ids of those that may not go out
 * @throws UnavailableError and the like when the mail service does not answer; none may go out then
 */
export async function cancelUnreadable(
  database: Database,
  visibility: VisibilityClient,
  waiting: readonly WaitingDelivery[],
): Promise<Set<string>> {
  const rows = await selectQuestioned(database, waiting);
  const questioned = Map.groupBy(rows, ({ organization_id }) => organization_id);
  const refused = (
    await Promise.all(
      [...questioned].map(([organizationId, own]) => unreadable(visibility, organizationId, own)),
    )
  ).flat();
  await cancelDeliveries(
    database,
    refused.map((row) => ({ endpointId: row.endpoint_id, id: row.id })),
  );
  return new Set(refused.map(({ id }) => id));
}

async function unreadable(
  visibility: VisibilityClient,
  organizationId: string,
  rows: readonly QuestionedRow[],
): Promise<QuestionedRow[]> {
  const places = [...Map.groupBy(rows, ({ conversation_id }) => conversation_id)].flatMap(
    ([conversationId, own]) => {
      if (conversationId === null) return [];
      const { mailbox_id, department_id } = own[0]!;
      return [
        {
          conversationId,
          mailboxId: mailbox_id ?? '',
          departmentId: department_id ?? undefined,
          readers: own.map(({ owner_user_id, department_ids }) => ({
            userId: owner_user_id,
            departmentIds: department_ids,
          })),
        },
      ];
    },
  );
  const mayRead = await readableBy(visibility, organizationId, places);
  // What happened outside of conversations is for administrators; a test tells nothing about anybody.
  return rows.filter(({ conversation_id, trigger, owner_user_id, needs_send }) =>
    conversation_id === null
      ? trigger !== 'test'
      : !mayRead(conversation_id, owner_user_id, needs_send ?? false),
  );
}
