import type { Consumption } from './shared-state';

export interface BucketDecision extends Consumption {
  /** When the bucket will be full; the only state to keep. Milliseconds since the epoch. */
  fullAt: number;
}

/** Absorbs the rounding of doubles: a millionth of a millisecond. */
const TOLERANCE_MS = 1e-6;

/**
 * A token bucket kept as one number, the time at which it is full again (generic cell rate
 * algorithm, ITU-T I.371 Annex A): each token moves it `windowMs / limit` further. A refused request
 * takes nothing. A cost above `limit` is never allowed; its `retryAfterMs` is the whole window.
 */
export function takeTokens(
  fullAt: number | null,
  now: number,
  limit: number,
  windowMs: number,
  cost: number,
): BucketDecision {
  if (limit <= 0 || cost > limit) {
    const full = Math.max(fullAt ?? now, now);
    return {
      allowed: false,
      remaining: limit <= 0 ? 0 : tokensLeft(full, now, limit, windowMs),
      resetMs: Math.ceil(full - now),
      retryAfterMs: windowMs,
      fullAt: full,
    };
  }
  const perToken = windowMs / limit;
  const before = Math.max(fullAt ?? now, now);
  const after = Math.max(now, before + cost * perToken);
  const excess = after - now - windowMs;
  const allowed = excess <= TOLERANCE_MS;
  const full = allowed ? after : before;
  return {
    allowed,
    remaining: tokensLeft(full, now, limit, windowMs),
    resetMs: Math.ceil(full - now - TOLERANCE_MS),
    retryAfterMs: allowed ? 0 : Math.ceil(excess - TOLERANCE_MS),
    fullAt: full,
  };
}

function tokensLeft(fullAt: number, now: number, limit: number, windowMs: number): number {
  const perToken = windowMs / limit;
  return Math.max(0, Math.floor((now + windowMs - fullAt + TOLERANCE_MS) / perToken));
}
