import { NotFoundError, isUuid, seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { DisabledReason } from './disable-endpoint-store';
import type { Makers } from './endpoint-makers';

/** As stored; times are RFC 3339. */
export interface EndpointRow {
  id: string;
  owner_user_id: string;
  url: string;
  description: string;
  event_types: string[];
  mailbox_ids: string[];
  ordering: 'none' | 'conversation';
  header_names: string[];
  enabled: boolean;
  status: 'active' | 'disabled';
  disabled_reason: DisabledReason | null;
  disabled_at: string | null;
  key_ids: string[] | null;
  maker_scopes: string[] | null;
  own_secret: boolean;
  rate_per_second: number | null;
  max_concurrency: number | null;
  timeout_ms: number | null;
  breaker_state: 'closed' | 'open' | 'half_open';
  breaker_opened_at: string | null;
  next_probe_at: string | null;
  last_success_at: string | null;
  first_failure_at: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `e.id, e.owner_user_id, e.url, e.description, e.event_types, e.mailbox_ids, e.ordering, e.header_names,
         e.enabled, e.status, e.disabled_reason, e.disabled_at, e.key_ids, e.maker_scopes, e.rate_per_second, e.max_concurrency, e.timeout_ms,
         e.breaker_state, e.breaker_opened_at, e.next_probe_at, e.last_success_at, e.first_failure_at, e.version,
         e.created_at, e.updated_at,
         exists (select 1 from secret s
                  where s.organization_id = e.organization_id and s.endpoint_id = e.id
                    and s.valid_until is null) as own_secret`;

/** A regular user has their own; $2 is null for those who see all. */
const MINE = `e.organization_id = $1 and ($2::uuid is null or e.owner_user_id = $2)`;

function scopeOf(principal: Principal): [organizationId: string, owner: string | null] {
  return [principal.organizationId, seesWholeOrganization(principal) ? null : principal.userId];
}

/** Oldest first. One more than asked for tells that there is a next page. */
export async function selectEndpoints(
  tx: SqlExecutor,
  principal: Principal,
  window: { after: string | null; offset: number; limit: number },
): Promise<EndpointRow[]> {
  const { rows } = await tx.query<EndpointRow>(
    `select ${COLUMNS} from endpoint e
      where ${MINE} and ($3::uuid is null or e.id > $3)
      order by e.id offset $4 limit $5`,
    [...scopeOf(principal), window.after, window.offset, window.limit],
  );
  return rows;
}

export async function countEndpoints(tx: SqlExecutor, principal: Principal): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from endpoint e where ${MINE}`,
    scopeOf(principal),
  );
  return rows[0]!.count;
}

/** @throws NotFoundError also for endpoints of others */
export async function loadEndpoint(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  lock = false,
): Promise<EndpointRow> {
  const { rows } = isUuid(id)
    ? await tx.query<EndpointRow>(
        `select ${COLUMNS} from endpoint e where ${MINE} and e.id = $3 ${lock ? 'for update of e' : ''}`,
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

/** Makes others wait who count or add endpoints of the organization, until the transaction ends. */
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

export interface EndpointColumns extends Makers {
  url: string;
  description: string;
  event_types: readonly string[];
  mailbox_ids: readonly string[];
  ordering: string;
  header_names: readonly string[];
  sealed_headers: Buffer | null;
  enabled: boolean;
  rate_per_second: number | null;
  max_concurrency: number | null;
  timeout_ms: number | null;
}

export async function insertEndpoint(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  columns: EndpointColumns,
): Promise<void> {
  await tx.query(
    `insert into endpoint (organization_id, id, owner_user_id, url, description, event_types, mailbox_ids, ordering,
                           header_names, sealed_headers, enabled, rate_per_second, max_concurrency, timeout_ms,
                           key_ids, maker_scopes, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, now(), now())`,
    [
      principal.organizationId,
      id,
      principal.userId,
      columns.url,
      columns.description,
      columns.event_types,
      columns.mailbox_ids,
      columns.ordering,
      columns.header_names,
      columns.sealed_headers,
      columns.enabled,
      columns.rate_per_second,
      columns.max_concurrency,
      columns.timeout_ms,
      columns.key_ids,
      columns.maker_scopes,
    ],
  );
}

/**
 * Sets what is given. Enabling ends a disablement and forgets the failures that led to it; another URL
 * starts with a clean record too.
 */
export async function updateEndpointRow(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  columns: Partial<EndpointColumns>,
): Promise<void> {
  const values: unknown[] = [organizationId, id];
  const sets = Object.entries(columns).map(([name, value]) => {
    values.push(value);
    return `${name} = $${values.length}`;
  });
  if (columns.enabled === true) {
    sets.push(`status = 'active', disabled_reason = null, disabled_at = null`);
  }
  if (columns.enabled === true || columns.url !== undefined) {
    sets.push(
      `breaker_state = 'closed', breaker_opened_at = null, next_probe_at = null, breaker_trips = 0,
       first_failure_at = null, first_failed_event_id = null, last_failure_at = null, last_failed_event_id = null`,
    );
  }
  await tx.query(
    `update endpoint set ${[...sets, 'version = version + 1', 'updated_at = now()'].join(', ')}
      where organization_id = $1 and id = $2`,
    values,
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
