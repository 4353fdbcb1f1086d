import type { Verdict } from './classify-outcome';
import { nextAttemptAt } from './retry-schedule';

/** The longest time for which a failing event delays its conversation. */
export const LONGEST_BLOCK_MS = 3_600_000;

export interface AttemptedDelivery {
  id: string;
  trigger: 'automatic' | 'replay' | 'retry' | 'test';
  /** Before this attempt. */
  attempts: number;
  isOrdered: boolean;
  /** Milliseconds since the epoch; null when this attempt is the first. */
  firstAttemptAt: number | null;
}

export type Settlement =
  | { readonly state: 'pending'; readonly nextAt: number }
  | { readonly state: 'delivered' | 'failed' | 'skipped' };

/**
 * The state of a delivery after an attempt. A delivery requested by a user (retry, test) is tried once: the user
 * sees the result and decides.
 * @param at when the attempt ended, milliseconds since the epoch
 * @param releasedAt when the latest hold of webhooks ended; time before it does not count as a delay
 */
export function settleAttempt(
  delivery: AttemptedDelivery,
  verdict: Pick<Verdict, 'kind' | 'retryAfterMs'>,
  at: number,
  releasedAt = 0,
): Settlement {
  switch (verdict.kind) {
    case 'delivered':
      return { state: 'delivered' };
    case 'gone':
    case 'failed':
      return { state: 'failed' };
    case 'withdrawn':
      return { state: 'pending', nextAt: at };
    case 'retry':
    case 'slow_down':
      return again(delivery, verdict.retryAfterMs, at, releasedAt);
  }
}

function again(
  delivery: AttemptedDelivery,
  retryAfterMs: number | null,
  at: number,
  releasedAt: number,
): Settlement {
  if (delivery.trigger === 'retry' || delivery.trigger === 'test') return { state: 'failed' };
  const next = nextAttemptAt({
    deliveryId: delivery.id,
    attempts: delivery.attempts + 1,
    at: new Date(at),
    retryAfterMs,
  });
  const blocksUntil = Math.max(delivery.firstAttemptAt ?? at, releasedAt) + LONGEST_BLOCK_MS;
  if (delivery.isOrdered && (next === null || next.getTime() > blocksUntil)) {
    return { state: 'skipped' };
  }
  return next === null ? { state: 'failed' } : { state: 'pending', nextAt: next.getTime() };
}
