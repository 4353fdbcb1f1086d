import type { Database, PreparedStatement } from '@dak/platform/postgres';
import type { StoredDelivery } from '../visibility/scopes-of-makers';
import { STAMP } from '../fan-out/fan-out-store';

export interface LaneClaim {
  endpointId: string;
  epoch: number;
}

/** What attempts for an endpoint depend on, as stored. Times are RFC 3339. */
export interface LaneConfigRow {
  id: string;
  organization_id: string;
  url: string;
  ordering: 'none' | 'conversation';
  sealed_headers: Buffer | null;
  rate_per_second: number | null;
  max_concurrency: number | null;
  timeout_ms: number | null;
  breaker_state: 'closed' | 'open' | 'half_open';
  breaker_opened_at: string | null;
  next_probe_at: string | null;
  breaker_trips: number;
  last_success_at: string | null;
  first_failure_at: string | null;
  first_failed_event_id: string | null;
  last_failure_at: string | null;
  last_failed_event_id: string | null;
  /** Enabled, not disabled by us, organization and owner active, webhooks not held. */
  sendable: boolean;
  /** When the latest hold of webhooks ended. */
  released_at: string | null;
  stamp: string;
  /** Current one first. */
  secrets: { own: boolean; ciphertext: string; valid_until: string | null }[] | null;
}

export interface DueRow extends StoredDelivery {
  organization_id: string;
  endpoint_id: string;
  id: string;
  event_id: string;
  trigger: 'automatic' | 'replay' | 'retry' | 'test';
  attempts: number;
  order_key: string | null;
  gap: boolean;
  created_at: string;
  first_attempt_at: string | null;
  body: Buffer;
  traceparent: string | null;
  /** Of the endpoint now, as {@link LaneConfigRow.stamp}: the lane may have been opened before. */
  stamp: string;
  /** Of the endpoint now. */
  maker_scopes: string[] | null;
}

const SENDABLE = `e.enabled and e.status = 'active' and coalesce(o.status, 'active') = 'active' and p.active
         and not exists (select from operations where webhooks = 'hold')`;
const ENDPOINTS = `
    from endpoint e
    join person p on p.organization_id = e.organization_id and p.user_id = e.owner_user_id
    left join organization o on o.organization_id = e.organization_id`;

const CLAIM = `
  insert into lane (endpoint_id, owner, epoch, lease_until)
  select free.id, $1, 1, now() + make_interval(secs => $2::float8 / 1000)
    from (select e.id ${ENDPOINTS}
            left join lane l on l.endpoint_id = e.id
           where (l.endpoint_id is null or l.lease_until < now())
             and ($3::uuid[] is null or e.id = any($3))
             and ${SENDABLE}
             and exists (select 1 from delivery d
                          where d.endpoint_id = e.id and d.state = 'pending' and d.next_at <= now())
           limit $4) free
      on conflict (endpoint_id)
      do update set owner = excluded.owner, epoch = lane.epoch + 1, lease_until = excluded.lease_until
            where lane.lease_until < now()
  returning endpoint_id, epoch`;

const RENEW = `
  update lane set lease_until = now() + make_interval(secs => $2::float8 / 1000)
   where owner = $1 and endpoint_id = any($3::uuid[])
  returning endpoint_id, epoch`;

const RELEASE = `
  update lane set owner = null, lease_until = '-infinity' where owner = $1 and endpoint_id = any($2::uuid[])`;

const FREE = `update lane set owner = null, lease_until = '-infinity' where starts_with(owner, $1)`;

const CONFIGS = `
  select e.id, e.organization_id, e.url, e.ordering, e.sealed_headers, e.rate_per_second, e.max_concurrency,
         e.timeout_ms, e.breaker_state, e.breaker_opened_at, e.next_probe_at, e.breaker_trips, e.last_success_at,
         e.first_failure_at, e.first_failed_event_id, e.last_failure_at, e.last_failed_event_id,
         ${SENDABLE} as sendable, ${STAMP} as stamp, (select released_at from operations) as released_at,
         (select json_agg(json_build_object('own', s.endpoint_id is not null,
                                            'ciphertext', encode(s.ciphertext, 'base64'),
                                            'valid_until', s.valid_until)
                          order by (s.valid_until is null) desc, s.id desc)
            from secret s
           where s.organization_id = e.organization_id
             and (s.endpoint_id = e.id or s.endpoint_id is null)
             and (s.valid_until is null or s.valid_until > now())) as secrets
  ${ENDPOINTS}
   where e.id = any($1::uuid[])`;

const WITH_ENDPOINT = `cross join lateral (
         select ${STAMP} as stamp, e.maker_scopes from endpoint e where e.id = l.endpoint_id) e`;

/** In the order in which they became due; the lanes' shares are cut before, so that none can take all. */
const DUE = `
  select d.organization_id, l.endpoint_id, d.id, d.event_id, d.event_type, d.trigger, d.attempts, d.order_key,
         false as gap, d.created_at, d.first_attempt_at, m.body, m.traceparent, m.needs_send, e.stamp, e.maker_scopes
    from unnest($1::uuid[], $2::integer[]) as l (endpoint_id, wanted)
   ${WITH_ENDPOINT}
   cross join lateral (
         select *
           from delivery d
          where d.endpoint_id = l.endpoint_id and d.state = 'pending' and d.next_at <= now()
            and d.id <> all($3::uuid[])
          order by d.next_at
          limit l.wanted) d
    join message m on m.organization_id = d.organization_id and m.event_id = d.event_id`;

/** Of ordered endpoints: only what no earlier event of its conversation has to precede. */
const DUE_HEADS = `
  select d.organization_id, l.endpoint_id, d.id, d.event_id, d.event_type, d.trigger, d.attempts, d.order_key,
         d.gap, d.created_at, d.first_attempt_at, m.body, m.traceparent, m.needs_send, e.stamp, e.maker_scopes
    from unnest($1::uuid[], $2::integer[]) as l (endpoint_id, wanted)
   ${WITH_ENDPOINT}
   cross join lateral (
         select d.organization_id, d.id, d.event_id, d.event_type, d.trigger, d.attempts, d.order_key,
                d.created_at, d.first_attempt_at,
                exists (select 1
                          from delivery s
                         where s.endpoint_id = d.endpoint_id and s.order_key = d.order_key
                           and s.order_seq < d.order_seq and s.state = 'skipped'
                           and not exists (select 1
                                             from delivery g
                                            where g.endpoint_id = d.endpoint_id and g.order_key = d.order_key
                                              and g.order_seq > s.order_seq and g.order_seq < d.order_seq
                                              and g.gap)) as gap
           from delivery d
          where d.endpoint_id = l.endpoint_id and d.state = 'pending' and d.next_at <= now()
            and d.id <> all($3::uuid[])
            and (d.order_key is null or l.endpoint_id || '/' || d.order_key <> all($4::text[]))
            and not exists (select 1
                              from delivery earlier
                             where earlier.endpoint_id = d.endpoint_id and earlier.order_key = d.order_key
                               and earlier.state = 'pending' and earlier.order_seq < d.order_seq)
          order by d.next_at
          limit l.wanted) d
    join message m on m.organization_id = d.organization_id and m.event_id = d.event_id`;

async function rowsOf<Row>(database: Database, statement: PreparedStatement): Promise<Row[]> {
  const [rows] = await database.batchAsWorker([statement]);
  return rows as unknown as Row[];
}

const toClaim = (row: { endpoint_id: string; epoch: number }): LaneClaim => ({
  endpointId: row.endpoint_id,
  epoch: Number(row.epoch),
});

/**
 * Takes lanes that nobody holds and that have something due.
 * @param of these only; null = any
 */
export async function claimLanes(
  database: Database,
  owner: string,
  leaseMs: number,
  of: readonly string[] | null,
  limit: number,
): Promise<LaneClaim[]> {
  const values = [owner, leaseMs, of, limit];
  const rows = await rowsOf<{ endpoint_id: string; epoch: number }>(database, {
    name: 'webhook_claim_lanes',
    text: CLAIM,
    values,
  });
  return rows.map(toClaim);
}

/** @returns those that are still ours, with the epochs of their claims */
export async function renewLanes(
  database: Database,
  owner: string,
  leaseMs: number,
  endpointIds: readonly string[],
): Promise<LaneClaim[]> {
  const values = [owner, leaseMs, endpointIds];
  const rows = await rowsOf<{ endpoint_id: string; epoch: number }>(database, {
    name: 'webhook_renew_lanes',
    text: RENEW,
    values,
  });
  return rows.map(toClaim);
}

export async function releaseLanes(
  database: Database,
  owner: string,
  endpointIds: readonly string[],
): Promise<void> {
  await rowsOf(database, {
    name: 'webhook_release_lanes',
    text: RELEASE,
    values: [owner, endpointIds],
  });
}

/** Frees the lanes of owners that begin so, who are known to be gone. */
export async function freeLanes(database: Database, prefix: string): Promise<void> {
  await rowsOf(database, { name: 'webhook_free_lanes', text: FREE, values: [prefix] });
}

export function selectLaneConfigs(
  database: Database,
  endpointIds: readonly string[],
): Promise<LaneConfigRow[]> {
  return rowsOf(database, { name: 'webhook_lane_configs', text: CONFIGS, values: [endpointIds] });
}

/** @param known ids that are in hand already */
export function selectDue(
  database: Database,
  shares: readonly { endpointId: string; wanted: number }[],
  known: readonly string[],
): Promise<DueRow[]> {
  return rowsOf(database, {
    name: 'webhook_due',
    text: DUE,
    values: [shares.map((s) => s.endpointId), shares.map((s) => s.wanted), known],
  });
}

/** @param busyKeys `endpoint/order_key` of conversations that have an event in hand already */
export function selectDueHeads(
  database: Database,
  shares: readonly { endpointId: string; wanted: number }[],
  known: readonly string[],
  busyKeys: readonly string[],
): Promise<DueRow[]> {
  return rowsOf(database, {
    name: 'webhook_due_heads',
    text: DUE_HEADS,
    values: [shares.map((s) => s.endpointId), shares.map((s) => s.wanted), known, busyKeys],
  });
}
