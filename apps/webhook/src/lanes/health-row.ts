import type { Health } from '../decisions/health-tracker';
import type { HealthRow } from '../endpoints/endpoint-row';

/** @param releasedAt when the latest hold of webhooks ended: until then the endpoint could not succeed */
export function readHealth(row: HealthRow, releasedAt: number): Health {
  const firstAt = parse(row.first_failure_at);
  return {
    breaker: {
      state: row.breaker_state,
      openedAt: parse(row.breaker_opened_at),
      nextProbeAt: parse(row.next_probe_at),
      trips: row.breaker_trips,
    },
    streak:
      firstAt === null
        ? null
        : {
            firstAt: Math.max(firstAt, releasedAt),
            firstEventId: row.first_failed_event_id ?? '',
            lastAt: parse(row.last_failure_at) ?? firstAt,
            lastEventId: row.last_failed_event_id ?? '',
          },
    lastSuccessAt: parse(row.last_success_at),
  };
}

export function toHealthRow({ breaker, streak, lastSuccessAt }: Health): HealthRow {
  return {
    breaker_state: breaker.state,
    breaker_opened_at: format(breaker.openedAt),
    next_probe_at: format(breaker.nextProbeAt),
    breaker_trips: breaker.trips,
    last_success_at: format(lastSuccessAt),
    first_failure_at: format(streak?.firstAt),
    first_failed_event_id: streak?.firstEventId ?? null,
    last_failure_at: format(streak?.lastAt),
    last_failed_event_id: streak?.lastEventId ?? null,
  };
}

function parse(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

function format(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}
