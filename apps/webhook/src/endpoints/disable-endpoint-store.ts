import { noteAudit } from '@dak/platform/audit';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import type { EndpointRow } from './endpoint-row';

type DisabledReason = NonNullable<EndpointRow['disabled_reason']>;

const CANCEL = `
  update delivery
     set state = 'canceled', error_code = 'endpoint_disabled', finished_at = now()
   where endpoint_id = any($1::uuid[]) and state = 'pending'`;

/**
 * Stops sending to an endpoint until a user enables it again. Waiting deliveries are canceled, so that
 * enabling causes no flood; a replay sends them.
 * @returns whether the endpoint was active before
 */
export function disableEndpoint(
  database: Database,
  endpointId: string,
  reason: DisabledReason,
): Promise<boolean> {
  return database.asWorker(async (tx) => {
    const { rows } = await tx.query<{ organization_id: string }>(
      `update endpoint set status = 'disabled', disabled_reason = $2, disabled_at = now(),
                           version = version + 1, updated_at = now()
        where id = $1 and status = 'active'
    returning organization_id`,
      [endpointId, reason],
    );
    await cancelPending(tx, [endpointId]);
    for (const row of rows) await noteDisabled(tx, row.organization_id, endpointId, reason);
    return rows.length > 0;
  });
}

/** Disables the endpoints of a deactivated user. @returns their ids */
export function disableEndpointsOf(
  tx: SqlExecutor,
  organizationId: string,
  userId: string,
): Promise<string[]> {
  return disableWhere(tx, organizationId, 'owner_user_id = $3', userId, 'owner_inactive');
}

/** Disables the endpoints that a revoked or expired key made or changed. @returns their ids */
export function disableEndpointsOfKey(
  tx: SqlExecutor,
  organizationId: string,
  keyId: string,
): Promise<string[]> {
  return disableWhere(tx, organizationId, '$3 = any(key_ids)', keyId, 'key_revoked');
}

/** @param condition SQL about `$3` */
async function disableWhere(
  tx: SqlExecutor,
  organizationId: string,
  condition: string,
  value: string,
  reason: DisabledReason,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update endpoint set status = 'disabled', disabled_reason = $2, disabled_at = now(),
                         version = version + 1, updated_at = now()
      where organization_id = $1 and status = 'active' and ${condition}
  returning id`,
    [organizationId, reason, value],
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await cancelPending(tx, ids);
  for (const id of ids) await noteDisabled(tx, organizationId, id, reason);
  return ids;
}

function noteDisabled(
  tx: SqlExecutor,
  organizationId: string,
  endpointId: string,
  reason: DisabledReason,
): Promise<void> {
  return noteAudit(
    tx,
    { organizationId, job: 'webhooks' },
    {
      action: 'webhook.disabled',
      target: { type: 'webhook', id: endpointId },
      details: { reason },
    },
  );
}

/** Cancels the deliveries that wait for these endpoints. */
export async function cancelPending(
  tx: SqlExecutor,
  endpointIds: readonly string[],
): Promise<void> {
  await tx.query(CANCEL, [endpointIds]);
}
