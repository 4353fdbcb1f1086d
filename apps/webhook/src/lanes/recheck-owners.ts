import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import { findReadable } from '../visibility/may-still-read';
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
  const owners = rows.map(({ owner_user_id, department_ids }) => ({
    userId: owner_user_id,
    departmentIds: department_ids,
  }));
  const mayRead = await findReadable(visibility, organizationId, owners, rows);
  return rows.filter((row) => !mayRead(row, row.owner_user_id));
}
