import { tableColumns, type Database, type PreparedStatement } from '@dak/platform/postgres';
import { ENDPOINT, type EndpointRow } from '../endpoints/endpoint-row';
import type { DeliveryRow } from '../fan-out/delivery-row';
import { STAMP } from '../fan-out/fan-out-store';
import type { MessageRow } from '../fan-out/message-row';

export interface LaneClaim {
  endpointId: string;
  epoch: number;
}

/** Everything that attempts for an endpoint depend on, as stored. Times are RFC 3339. */
export interface LaneConfigRow extends EndpointRow {
  organization_id: string;
  /** The endpoint, its organization and its owner are active, and webhooks are not held. */
  sendable: boolean;
  /** When the latest hold of webhooks ended. */
  released_at: string | null;
  stamp: string;
  /** Current one first. */
  secrets: { own: boolean; ciphertext: string; valid_until: string | null }[] | null;
}

type DueColumns = Pick<
  DeliveryRow,
  | 'id'
  | 'event_id'
  | 'event_type'
  | 'trigger'
  | 'attempts'
  | 'order_key'
  | 'created_at'
  | 'first_attempt_at'
>;
export type DueRow = DueColumns &
  Pick<DeliveryRow, 'endpoint_id' | 'gap'> &
  Pick<MessageRow, 'organization_id' | 'body' | 'traceparent' | 'needs_send'> &
  /** The endpoint's as it is now; the lane may know former ones. */
  Pick<LaneConfigRow, 'stamp' | 'maker_scopes'>;

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
  select e.organization_id, ${ENDPOINT.list('e')},
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

const DUE_COLUMNS = tableColumns<DueColumns>('delivery', {
  id: 'fixed',
  event_id: 'fixed',
  event_type: 'fixed',
  trigger: 'fixed',
  attempts: 'changes',
  order_key: 'fixed',
  created_at: 'fixed',
  first_attempt_at: 'changes',
});

/**
 * Due deliveries of each endpoint up to its share, so that none takes all, in the order in which they became due.
 * @param next SQL that selects those of one endpoint, `l`
 */
const dueOf = (next: string) => `
  select l.endpoint_id, ${DUE_COLUMNS.list('d')}, d.gap, m.organization_id, m.body, m.traceparent, m.needs_send,
         e.stamp, e.maker_scopes
    from unnest($1::uuid[], $2::integer[]) as l (endpoint_id, wanted)
   cross join lateral (
         select ${STAMP} as stamp, e.maker_scopes from endpoint e where e.id = l.endpoint_id) e
   cross join lateral (${next}
          order by d.next_at
          limit l.wanted) d
    join message m on m.organization_id = d.organization_id and m.event_id = d.event_id`;

const DUE = dueOf(`
         select d.organization_id, ${DUE_COLUMNS.list('d')}, false as gap
           from delivery d
          where d.endpoint_id = l.endpoint_id and d.state = 'pending' and d.next_at <= now()
            and d.id <> all($3::uuid[])`);

/** For ordered endpoints: only deliveries without a pending predecessor in their conversation. */
const DUE_HEADS = dueOf(`
         select d.organization_id, ${DUE_COLUMNS.list('d')},
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
                               and earlier.state = 'pending' and earlier.order_seq < d.order_seq)`);

async function rowsOf<Row>(database: Database, statement: PreparedStatement): Promise<Row[]> {
  const [rows] = await database.batchAsWorker([statement]);
  return rows as unknown as Row[];
}

const toClaim = (row: { endpoint_id: string; epoch: number }): LaneClaim => ({
  endpointId: row.endpoint_id,
  epoch: Number(row.epoch),
});

/**
 * Claims lanes that no process holds and that have something due.
 * @param of endpoints; null = any
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

/** @returns the lanes that still belong to the owner, with the epochs of their claims */
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

/** Frees the lanes of former owners, whose names begin with `prefix`. */
export async function freeLanes(database: Database, prefix: string): Promise<void> {
  await rowsOf(database, { name: 'webhook_free_lanes', text: FREE, values: [prefix] });
}

export function selectLaneConfigs(
  database: Database,
  endpointIds: readonly string[],
): Promise<LaneConfigRow[]> {
  return rowsOf(database, { name: 'webhook_lane_configs', text: CONFIGS, values: [endpointIds] });
}

/** @param known ids of deliveries in hand */
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

/** @param busyKeys `endpoint/order_key` of conversations with an event in hand */
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
