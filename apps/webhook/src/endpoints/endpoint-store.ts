import { NotFoundError, isUuid, seesWholeOrganization, type Principal } from '@dak/kernel';
import { insertOfRow, type SqlExecutor } from '@dak/platform/postgres';
import { CLEAN_HEALTH, ENDPOINT, type EndpointColumns, type EndpointRow } from './endpoint-row';

/** An endpoint, and whether it has a secret of its own. */
export interface StoredEndpoint extends EndpointRow {
  own_secret: boolean;
}

const COLUMNS = `${ENDPOINT.list('e')},
         exists (select 1 from secret s
                  where s.organization_id = e.organization_id and s.endpoint_id = e.id
                    and s.valid_until is null) as own_secret`;

/** Regular users see their own endpoints; $2 is null for callers who see all. */
const VISIBLE = `e.organization_id = $1 and ($2::uuid is null or e.owner_user_id = $2)`;

function scopeOf(principal: Principal): [organizationId: string, owner: string | null] {
  return [principal.organizationId, seesWholeOrganization(principal) ? null : principal.userId];
}

/** Oldest first. */
export async function selectEndpoints(
  tx: SqlExecutor,
  principal: Principal,
  window: { after: string | null; offset: number; limit: number },
): Promise<StoredEndpoint[]> {
  const { rows } = await tx.query<StoredEndpoint>(
    `select ${COLUMNS} from endpoint e
      where ${VISIBLE} and ($3::uuid is null or e.id > $3)
      order by e.id offset $4 limit $5`,
    [...scopeOf(principal), window.after, window.offset, window.limit],
  );
  return rows;
}

export async function countEndpoints(tx: SqlExecutor, principal: Principal): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from endpoint e where ${VISIBLE}`,
    scopeOf(principal),
  );
  return rows[0]!.count;
}

/** @throws NotFoundError, also for endpoints that the caller may not see */
export async function loadEndpoint(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  lock = false,
): Promise<StoredEndpoint> {
  const { rows } = isUuid(id)
    ? await tx.query<StoredEndpoint>(
        `select ${COLUMNS} from endpoint e where ${VISIBLE} and e.id = $3 ${lock ? 'for update of e' : ''}`,
        [...scopeOf(principal), id],
      )
    : { rows: [] };
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('webhook');
  return row;
}

export async function selectEndpointIds(
  tx: SqlExecutor,
  organizationId: string,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from endpoint where organization_id = $1`,
    [organizationId],
  );
  return rows.map(({ id }) => id);
}

/** Counts the organization's endpoints, and locks out other transactions that add one, until this one ends. */
export async function lockEndpointCount(tx: SqlExecutor, organizationId: string): Promise<number> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('endpoints:' || $1, 0))`, [
    organizationId,
  ]);
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from endpoint where organization_id = $1`,
    [organizationId],
  );
  return rows[0]!.count;
}

export async function insertEndpoint(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  columns: EndpointColumns,
  now: number,
): Promise<void> {
  const at = new Date(now);
  const insert = insertOfRow('endpoint', {
    organization_id: principal.organizationId,
    id,
    owner_user_id: principal.userId,
    ...columns,
    created_at: at,
    updated_at: at,
  });
  await tx.query(insert.text, insert.values);
}

/** Sets what is given. Enabling an endpoint, or giving it another URL, gives it a clean record. */
export async function updateEndpointRow(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  columns: Partial<EndpointColumns>,
): Promise<void> {
  const isEnabled = columns.enabled === true;
  const changed: Partial<EndpointRow> = {
    ...columns,
    ...(isEnabled && { status: 'active', disabled_reason: null, disabled_at: null }),
    ...((isEnabled || columns.url !== undefined) && CLEAN_HEALTH),
  };
  const sets = Object.keys(changed).map((name, index) => `${name} = $${index + 3}`);
  await tx.query(
    `update endpoint set ${[...sets, 'version = version + 1', 'updated_at = now()'].join(', ')}
      where organization_id = $1 and id = $2`,
    [organizationId, id, ...Object.values(changed)],
  );
}

/** Its deliveries are removed by the sweep. */
export async function deleteEndpointRow(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<void> {
  await tx.query(`delete from endpoint where organization_id = $1 and id = $2`, [
    organizationId,
    id,
  ]);
}
