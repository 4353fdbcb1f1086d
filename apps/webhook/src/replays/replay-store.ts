import type { WebhookReplayRecord } from '@dak/contracts/api';
import { NotFoundError, isUuid } from '@dak/kernel';
import { insertOfRow, tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import type { EndpointRow } from '../endpoints/endpoint-row';
import { leastIdOf } from '../fan-out/delivery-id';
import type { DeliveryRow } from '../fan-out/delivery-row';
import type { RepeatedEvent } from '../visibility/may-still-read';

/** As stored; times are RFC 3339. */
export interface ReplayRow {
  organization_id: string;
  id: string;
  endpoint_id: string;
  requested_by: string;
  since: string;
  until: string;
  event_types: string[];
  only_failed: boolean;
  state: WebhookReplayRecord['state'];
  position: string;
  examined: number;
  queued: number;
  total: number;
  created_at: string;
  finished_at: string | null;
}

const COLUMNS = tableColumns<Omit<ReplayRow, 'organization_id'>>('replay', {
  id: 'fixed',
  endpoint_id: 'fixed',
  requested_by: 'fixed',
  since: 'fixed',
  until: 'fixed',
  event_types: 'fixed',
  only_failed: 'fixed',
  state: 'changes',
  position: 'changes',
  examined: 'changes',
  queued: 'changes',
  total: 'fixed',
  created_at: 'fixed',
  finished_at: 'changes',
});
const REPLAY = `r.organization_id, ${COLUMNS.list('r')}`;

export type ReplayRange = Pick<
  ReplayRow,
  'endpoint_id' | 'since' | 'until' | 'event_types' | 'only_failed'
>;

/** A delivery that a replay repeats. */
export type RepeatedRow = RepeatedEvent &
  Pick<DeliveryRow, 'id' | 'event_id' | 'order_key' | 'order_seq'>;

export async function insertReplay(
  tx: SqlExecutor,
  replay: ReplayRange &
    Pick<ReplayRow, 'organization_id' | 'id' | 'requested_by' | 'total' | 'created_at'>,
): Promise<void> {
  const insert = insertOfRow('replay', replay);
  await tx.query(insert.text, insert.values);
}

/** @throws NotFoundError */
export async function loadReplay(
  tx: SqlExecutor,
  organizationId: string,
  endpointId: string,
  id: string,
): Promise<ReplayRow> {
  const { rows } = isUuid(id)
    ? await tx.query<ReplayRow>(
        `select ${REPLAY} from replay r where r.organization_id = $1 and r.endpoint_id = $2 and r.id = $3`,
        [organizationId, endpointId, id],
      )
    : { rows: [] };
  if (rows[0] === undefined) throw new NotFoundError('replay');
  return rows[0];
}

/** Each event once: deliveries of replays, retries and tests are left out. */
const REPEATED = `d.endpoint_id = $1 and d.id >= $2 and d.id < $3 and d.trigger = 'automatic'
        and ($4::text[] = '{}' or d.event_type = any($4))`;
const UNSUCCESSFUL = `and d.state = any (array['failed', 'skipped', 'canceled'])
        and not exists (select 1 from delivery other
                         where other.organization_id = d.organization_id and other.event_id = d.event_id
                           and other.endpoint_id = d.endpoint_id and other.state = 'delivered')`;

function conditionOf({ only_failed }: ReplayRange): string {
  return only_failed ? `${REPEATED} ${UNSUCCESSFUL}` : REPEATED;
}

function valuesOf({ endpoint_id, since, until, event_types }: ReplayRange): unknown[] {
  const [from, to] = [leastIdOf(Date.parse(since)), leastIdOf(Date.parse(until))];
  return [endpoint_id, from, to, event_types];
}

export async function countRepeated(tx: SqlExecutor, range: ReplayRange): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from delivery d where ${conditionOf(range)}`,
    valuesOf(range),
  );
  return rows[0]!.count;
}

/** The next deliveries after the position of the replay, by id. */
export async function selectRepeated(
  tx: SqlExecutor,
  replay: ReplayRow,
  limit: number,
): Promise<RepeatedRow[]> {
  const { rows } = await tx.query<RepeatedRow>(
    `select d.id, d.event_id, d.event_type, d.trigger, d.order_key, d.order_seq, m.mailbox_id, m.department_id,
            m.conversation_id, m.needs_send
       from delivery d
       join message m on m.organization_id = d.organization_id and m.event_id = d.event_id
      where ${conditionOf(replay)} and d.id > $5
      order by d.id limit $6`,
    [...valuesOf(replay), replay.position, limit],
  );
  return rows;
}

/** The oldest running replays, with the number of due deliveries of their endpoints, counted up to `enough`. */
export async function selectRunning(
  tx: SqlExecutor,
  enough: number,
): Promise<(ReplayRow & { waiting: number; is_sendable: boolean })[]> {
  const { rows } = await tx.query<ReplayRow & { waiting: number; is_sendable: boolean }>(
    `select ${REPLAY}, e.enabled and e.status = 'active' as is_sendable,
            (select count(*)::int from (
                    select from delivery d
                     where d.endpoint_id = r.endpoint_id and d.state = 'pending' and d.next_at <= now()
                     limit $1) counted) as waiting
       from replay r
       join endpoint e on e.organization_id = r.organization_id and e.id = r.endpoint_id
      where r.state = 'running'
      order by r.created_at
      limit 20`,
    [enough],
  );
  return rows;
}

/**
 * Advances a replay unless another process has advanced it since it was read.
 * @returns whether it was advanced
 */
export async function advanceReplay(
  tx: SqlExecutor,
  replay: ReplayRow,
  to: Pick<ReplayRow, 'position' | 'examined' | 'queued' | 'state'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update replay set position = $4, examined = $5, queued = $6, state = $7,
                       finished_at = case when $7 <> 'running' then now() end
      where organization_id = $1 and id = $2 and state = 'running' and position = $3`,
    [
      replay.organization_id,
      replay.id,
      replay.position,
      to.position,
      to.examined,
      to.queued,
      to.state,
    ],
  );
  return rowCount > 0;
}

export function renderReplay(row: ReplayRow): WebhookReplayRecord {
  return {
    id: row.id,
    webhook_id: row.endpoint_id,
    since: row.since,
    until: row.until,
    types: row.event_types,
    only_failed: row.only_failed,
    state: row.state,
    total: row.total,
    examined: row.examined,
    queued: row.queued,
    requested_by: row.requested_by,
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}

type ReplayedEndpoint = Pick<EndpointRow, 'owner_user_id' | 'maker_scopes' | 'ordering'>;

/** Null when the endpoint no longer exists. */
export async function selectEndpointOf(
  tx: SqlExecutor,
  replay: Pick<ReplayRow, 'endpoint_id'>,
): Promise<ReplayedEndpoint | null> {
  const { rows } = await tx.query<ReplayedEndpoint>(
    `select owner_user_id, maker_scopes, ordering from endpoint where id = $1`,
    [replay.endpoint_id],
  );
  return rows[0] ?? null;
}
