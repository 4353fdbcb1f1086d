import { rowParameters, type PreparedStatement } from '@dak/platform/postgres';
import type { AttemptRow } from '../deliveries/attempt-row';
import type { HealthRow } from '../endpoints/endpoint-row';
import type { DeliveryRow } from '../fan-out/delivery-row';

/** The claim under which a row is written; it has no effect once the lane has another epoch. */
interface LaneKey {
  endpoint_id: string;
  epoch: number;
}

/** An attempt that was made, and what becomes of its delivery. */
export interface ResultRow extends LaneKey, AttemptRow, Pick<DeliveryRow, 'state' | 'gap'> {
  organization_id: string;
  delivery_id: string;
  /** Null when there is no further attempt. */
  next_at: string | null;
}

const ATTEMPT_TYPES: Readonly<Record<keyof AttemptRow, string>> = {
  number: 'smallint',
  at: 'timestamptz',
  duration_ms: 'integer',
  outcome: 'text',
  status_code: 'smallint',
  error_code: 'text',
  detail: 'text',
  response_start: 'text',
};
const ATTEMPT_KEYS = ['organization_id', 'endpoint_id', 'delivery_id'];
const ATTEMPT_NAMES = [...ATTEMPT_KEYS, ...Object.keys(ATTEMPT_TYPES)];

const RESULTS = rowParameters<ResultRow>({
  endpoint_id: 'uuid',
  epoch: 'bigint',
  organization_id: 'uuid',
  delivery_id: 'uuid',
  state: 'text',
  next_at: 'timestamptz',
  gap: 'boolean',
  ...ATTEMPT_TYPES,
});

/**
 * Records only the next attempt of a delivery, and only under an epoch that is still in force; its row is locked until
 * the commit, so that no other process takes the lane over in between. The attempt of a former owner leaves no trace;
 * the new owner makes it again.
 */
const RECORD = `
  with result as (select * from ${RESULTS.from('r', 2)}),
       live as (
         select l.endpoint_id, l.epoch
           from lane l
          where l.owner = $1 and l.endpoint_id = any($2::uuid[])
            for share),
       changed as (
         update delivery d
            set state = r.state, attempts = r.number, next_at = coalesce(r.next_at, d.next_at),
                status_code = r.status_code, error_code = r.error_code, gap = r.gap,
                first_attempt_at = coalesce(d.first_attempt_at, r.at),
                finished_at = case when r.state <> 'pending' then now() end
           from result r
           join live l on l.endpoint_id = r.endpoint_id and l.epoch = r.epoch
          where d.endpoint_id = r.endpoint_id and d.id = r.delivery_id and d.attempts = r.number - 1
            and (d.state = 'pending' or d.state = 'canceled' and r.state = 'delivered')
      returning d.endpoint_id, d.id),
       logged as (
         insert into attempt (${ATTEMPT_NAMES.join(', ')})
         select ${ATTEMPT_NAMES.map((name) => `r.${name}`).join(', ')}
           from result r
           join changed c on c.endpoint_id = r.endpoint_id and c.id = r.delivery_id)
  select endpoint_id, id from changed`;

const HEALTH_TYPES: Readonly<Record<keyof HealthRow, string>> = {
  breaker_state: 'text',
  breaker_opened_at: 'timestamptz',
  next_probe_at: 'timestamptz',
  breaker_trips: 'integer',
  last_success_at: 'timestamptz',
  first_failure_at: 'timestamptz',
  first_failed_event_id: 'text',
  last_failure_at: 'timestamptz',
  last_failed_event_id: 'text',
};
const HEALTHS = rowParameters<LaneKey & HealthRow>({
  endpoint_id: 'uuid',
  epoch: 'bigint',
  ...HEALTH_TYPES,
});

const HEALTH = `
  update endpoint e
     set ${Object.keys(HEALTH_TYPES)
       .map((name) => `${name} = h.${name}`)
       .join(', ')}
    from ${HEALTHS.from('h', 2)}
    join lane l on l.endpoint_id = h.endpoint_id and l.epoch = h.epoch and l.owner = $1
   where e.id = h.endpoint_id`;

/** Its result is `endpoint_id, id` of each delivery whose attempt was recorded. */
export function recordAttempts(owner: string, results: readonly ResultRow[]): PreparedStatement {
  const values = [owner, ...RESULTS.values(results)];
  return { name: 'webhook_record_attempts', text: RECORD, values };
}

export function saveHealth(
  owner: string,
  rows: readonly (LaneKey & HealthRow)[],
): PreparedStatement {
  return { name: 'webhook_save_health', text: HEALTH, values: [owner, ...HEALTHS.values(rows)] };
}
