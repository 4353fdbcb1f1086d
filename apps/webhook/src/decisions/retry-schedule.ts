import { createHash } from 'node:crypto';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Wait before the first, second, … attempt, as Standard Webhooks suggests. */
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

/** A delivery fails with its last attempt. */
export const MAX_ATTEMPTS = WAITS.length;
/** The longest wait that a receiver can ask for. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR;
export const JITTER = 0.2;

/**
 * When to try again after a failed attempt; null after the last. Waits vary, so that deliveries which failed
 * together do not come back together; the variation is computed from the delivery and the number of the
 * attempt alone, so that every worker gets the same time.
 */
export function nextAttemptAt(failed: {
  readonly deliveryId: string;
  /** Automatic attempts so far, the failed one included. */
  readonly attempts: number;
  /** When it failed. */
  readonly at: Date;
  /** The receiver's Retry-After, see `classifyOutcome`; it can only lengthen the wait. */
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
