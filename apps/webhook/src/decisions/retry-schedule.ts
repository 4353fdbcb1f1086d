import { createHash } from 'node:crypto';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Wait before the first, second, … attempt: the example of Standard Webhooks, 75.6 hours in all. */
export const WAITS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** A delivery has failed when so many attempts have. */
export const MAX_ATTEMPTS = WAITS.length;
/** A receiver cannot put an attempt off for longer. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR;
export const JITTER = 0.2;

/**
 * When to try again after a failed attempt, or null when it was the last. Waits vary by ±20 %, so that a
 * crowd that failed together does not come back together; by how much follows from the delivery and the
 * number of the attempt alone, so that every worker computes the same time.
 */
export function nextAttemptAt(failed: {
  readonly deliveryId: string;
  /** Automatic attempts so far, the failed one included. */
  readonly attempts: number;
  /** When it failed. */
  readonly at: Date;
  /** What the receiver asked for, see `classifyOutcome`; it lengthens the wait and never shortens it. */
  readonly retryAfterMs: number | null;
}): Date | null {
  const wait = WAITS[failed.attempts];
  if (wait === undefined) return null;
  const share = unitInterval(failed.deliveryId, failed.attempts + 1);
  const jittered = wait * (1 + JITTER * (2 * share - 1));
  const asked = Math.min(failed.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return new Date(failed.at.getTime() + Math.round(Math.max(jittered, asked)));
}

/** From 0 to below 1. */
function unitInterval(deliveryId: string, attempt: number): number {
  const digest = createHash('sha256').update(`${deliveryId}:${attempt}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}
