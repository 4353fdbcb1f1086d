import type { PreparedStatement } from '@dak/platform/postgres';
import type { VerdictKind } from '../decisions/classify-outcome';
import type { Health } from '../decisions/health-tracker';
import type { Settlement } from '../decisions/settle-attempt';
import type { Lane } from './lane';

/** An attempt that was made and what its delivery becomes. Times in milliseconds since the epoch. */
export interface AttemptResult {
  lane: Lane;
  organizationId: string;
  deliveryId: string;
  number: number;
  settlement: Settlement;
  outcome: Exclude<VerdictKind, 'withdrawn'>;
  statusCode: number | null;
  errorCode: string | null;
  detail: string | null;
  responseStart: string | null;
  gap: boolean;
  at: number;
  durationMs: number;
}

/**
 * One statement: only under an epoch that is still in force (its row is held until the commit, so
 * nobody takes the lane over in between) and only the attempt that comes next. An attempt of somebody
 * who has lost the lane leaves no trace; the new owner makes it again.
 */
const RECORD = `
  with result as (
         select *
           from unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::smallint[], $7::text[], $8::timestamptz[],
                       $9::text[], $10::smallint[], $11::text[], $12::text[], $13::text[], $14::boolean[],
                       $15::timestamptz[], $16::integer[])
                as r (endpoint_id, epoch, organization_id, delivery_id, number, state, next_at, outcome, status_code,
                      error_code, detail, response_start, gap, at, duration_ms)),
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
         insert into attempt (organization_id, endpoint_id, delivery_id, number, at, duration_ms, outcome, status_code,
                              error_code, detail, response_start)
         select r.organization_id, r.endpoint_id, r.delivery_id, r.number, r.at, r.duration_ms, r.outcome,
                r.status_code, r.error_code, r.detail, r.response_start
           from result r
           join changed c on c.endpoint_id = r.endpoint_id and c.id = r.delivery_id)
  select endpoint_id, id from changed`;

const HEALTH = `
  update endpoint e
     set breaker_state = h.breaker_state, breaker_opened_at = h.breaker_opened_at, next_probe_at = h.next_probe_at,
         breaker_trips = h.breaker_trips, last_success_at = h.last_success_at, first_failure_at = h.first_failure_at,
         first_failed_event_id = h.first_failed_event_id, last_failure_at = h.last_failure_at,
         last_failed_event_id = h.last_failed_event_id
    from unnest($2::uuid[], $3::bigint[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::integer[],
                $8::timestamptz[], $9::timestamptz[], $10::text[], $11::timestamptz[], $12::text[])
         as h (endpoint_id, epoch, breaker_state, breaker_opened_at, next_probe_at, breaker_trips, last_success_at,
               first_failure_at, first_failed_event_id, last_failure_at, last_failed_event_id)
    join lane l on l.endpoint_id = h.endpoint_id and l.epoch = h.epoch and l.owner = $1
   where e.id = h.endpoint_id`;

const time = (at: number | null): Date | null => (at === null ? null : new Date(at));

/** The rows are `endpoint_id, id` of what was recorded. */
export function recordAttempts(
  owner: string,
  results: readonly AttemptResult[],
): PreparedStatement {
  return {
    name: 'webhook_record_attempts',
    text: RECORD,
    values: [
      owner,
      results.map(({ lane }) => lane.endpointId),
      results.map(({ lane }) => lane.epoch),
      results.map(({ organizationId }) => organizationId),
      results.map(({ deliveryId }) => deliveryId),
      results.map(({ number }) => number),
      results.map(({ settlement }) => settlement.state),
      results.map(({ settlement }) =>
        settlement.state === 'pending' ? new Date(settlement.nextAt) : null,
      ),
      results.map(({ outcome }) => outcome),
      results.map(({ statusCode }) => statusCode),
      results.map(({ errorCode }) => errorCode),
      results.map(({ detail }) => detail),
      results.map(({ responseStart }) => responseStart),
      results.map(({ gap }) => gap),
      results.map(({ at }) => new Date(at)),
      results.map(({ durationMs }) => durationMs),
    ],
  };
}

export function saveHealth(
  owner: string,
  changes: readonly { lane: Lane; health: Health }[],
): PreparedStatement {
  return {
    name: 'webhook_save_health',
    text: HEALTH,
    values: [
      owner,
      changes.map(({ lane }) => lane.endpointId),
      changes.map(({ lane }) => lane.epoch),
      changes.map(({ health }) => health.breaker.state),
      changes.map(({ health }) => time(health.breaker.openedAt)),
      changes.map(({ health }) => time(health.breaker.nextProbeAt)),
      changes.map(({ health }) => health.breaker.trips),
      changes.map(({ health }) => time(health.lastSuccessAt)),
      changes.map(({ health: { streak } }) => time(streak?.firstAt ?? null)),
      changes.map(({ health: { streak } }) => streak?.firstEventId ?? null),
      changes.map(({ health: { streak } }) => time(streak?.lastAt ?? null)),
      changes.map(({ health: { streak } }) => streak?.lastEventId ?? null),
    ],
  };
}
