import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import { findReadable } from '../visibility/may-still-read';
import {
  cancelDeliveries,
  type UncheckedRow,
  selectUnchecked,
  type WaitingDelivery,
} from './waiting-store';

/**
 * Cancels waiting deliveries whose events the owners of the endpoints may no longer read, with one question per
 * organization.
 * @returns ids of the canceled deliveries
 * @throws UnavailableError and the like when the mail service does not answer; then none may be sent
 */
export async function cancelUnreadable(
  database: Database,
  visibility: VisibilityClient,
  waiting: readonly WaitingDelivery[],
): Promise<Set<string>> {
  const rows = await selectUnchecked(database, waiting);
  const unchecked = Map.groupBy(rows, ({ organization_id }) => organization_id);
  const refused = (
    await Promise.all(
      [...unchecked].map(([organizationId, own]) => unreadable(visibility, organizationId, own)),
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
  rows: readonly UncheckedRow[],
): Promise<UncheckedRow[]> {
  const owners = rows.map(({ owner_user_id, department_ids }) => ({
    userId: owner_user_id,
    departmentIds: department_ids,
  }));
  const mayRead = await findReadable(visibility, organizationId, owners, rows);
  return rows.filter((row) => !mayRead(row, row.owner_user_id));
}
