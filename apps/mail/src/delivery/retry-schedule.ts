const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Wait after the first, second, … attempt. RFC 5321 §4.5.4.1 wants 30 minutes between attempts in
 * general; the early short steps serve greylisting and brief outages.
 */
const WAITS = [1, 5, 10, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE);
const LAST_WAIT = 6 * HOUR;

/** Hints are honored as given up to here: later, only where they lengthen the wait. */
const SHORT_HINT_ATTEMPTS = 6;
/** A server cannot make us wait longer than our own longest wait. */
const MAX_HINT = 6 * HOUR;
const JITTER = 0.1;

/** RFC 5321 §4.5.4.1: give up after 4 to 5 days. Mail of a process is stale after one. */
const LIFETIME = { personal: 120 * HOUR, transactional: 24 * HOUR } as const;
export type RetryKind = keyof typeof LIFETIME;

export interface RetryState {
  /** Attempts made so far; 0 for a message just accepted. */
  readonly attempts: number;
  readonly acceptedAt: Date;
  readonly now: Date;
  readonly kind: RetryKind;
  /** From the last reply, see `retryHintSeconds`. */
  readonly retryAfterSeconds?: number;
}

/**
 * When to try next, or null when the message has outlived its schedule and is to be returned.
 * `random` gives a number from 0 to below 1; waits vary by ±10 % so that a crowd deferred together
 * does not come back together, but are never shorter than the server's request.
 */
export function nextAttemptAt(state: RetryState, random: () => number): Date | null {
  if (state.attempts === 0) return state.acceptedAt;
  const wait = WAITS[state.attempts - 1] ?? LAST_WAIT;
  const jitter = 1 + JITTER * (2 * random() - 1);
  let milliseconds = wait * jitter;
  if (state.retryAfterSeconds !== undefined && state.retryAfterSeconds > 0) {
    const hint = Math.min(state.retryAfterSeconds * 1000, MAX_HINT);
    if (hint >= wait || state.attempts <= SHORT_HINT_ATTEMPTS) {
      milliseconds = hint * (1 + JITTER * random());
    }
  }
  const next = state.now.getTime() + Math.round(milliseconds);
  return next > state.acceptedAt.getTime() + LIFETIME[state.kind] ? null : new Date(next);
}
