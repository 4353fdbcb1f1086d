const HOUR_MS = 3_600_000;

/** An endpoint without any success for this long is disabled. */
export const GIVE_UP_AFTER_MS = 5 * 24 * HOUR_MS;
/** A single bad event, retried for days, proves nothing: another one must fail this much later. */
export const FAILURES_APART_MS = 12 * HOUR_MS;

/** Failures since the latest success; null when there were none. Times in milliseconds since the epoch. */
export interface FailureStreak {
  readonly firstAt: number;
  readonly firstEventId: string;
  readonly lastAt: number;
  readonly lastEventId: string;
}

/** The streak after a failed attempt. */
export function withFailure(
  streak: FailureStreak | null,
  eventId: string,
  at: number,
): FailureStreak {
  if (streak === null)
    return { firstAt: at, firstEventId: eventId, lastAt: at, lastEventId: eventId };
  // A retry of the first event must not hide that another one failed later.
  if (eventId === streak.firstEventId && streak.lastEventId !== streak.firstEventId) return streak;
  return { ...streak, lastAt: Math.max(at, streak.lastAt), lastEventId: eventId };
}

/** Whether an endpoint with this streak must be disabled now. */
export function isHopeless(streak: FailureStreak | null, now: number): boolean {
  return (
    streak !== null &&
    now - streak.firstAt >= GIVE_UP_AFTER_MS &&
    streak.lastEventId !== streak.firstEventId &&
    streak.lastAt - streak.firstAt >= FAILURES_APART_MS
  );
}
