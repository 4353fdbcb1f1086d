import type { RecipientResult } from '@dak/platform/smtp-client';
import type { ClaimedDelivery } from './claimed-delivery';
import { nextAttemptAt } from './retry-schedule';

/** The effect of an attempt on a delivery. */
export interface DeliveryResult {
  readonly state: 'sent' | 'deferred' | 'failed' | 'uncertain' | 'canceled';
  /** As the attempt is recorded. */
  readonly outcome: 'accepted' | 'deferred' | 'rejected' | 'ambiguous' | 'canceled';
  /** Milliseconds since the epoch; null = never again. */
  readonly nextAttemptAt: number | null;
  readonly phase: string | null;
  readonly smtpCode: number | null;
  readonly enhanced: string | null;
  readonly diagnostic: string | null;
}

const MAX_DIAGNOSTIC = 1000;

/**
 * The rules of retrying (mail that one server defers, RFC 5321 §4.5.4.1; an unknown outcome after the
 * final dot is tried once more with the same Message-ID, after a wait, unless that is forbidden).
 */
export function judgeResult(
  delivery: Pick<
    ClaimedDelivery,
    'attempts' | 'dueSince' | 'isAutomatic' | 'atMostOnce' | 'wasUncertain'
  >,
  result: RecipientResult,
  now: number,
  uncertainWaitMs: number,
  random: () => number,
): DeliveryResult {
  const { reply } = result;
  const common = {
    phase: result.phase,
    smtpCode: reply?.code ?? null,
    enhanced: reply?.enhanced ?? null,
    diagnostic: (reply?.text ?? result.reason ?? '').slice(0, MAX_DIAGNOSTIC) || null,
  };
  switch (result.outcome) {
    case 'accepted':
      return { ...common, state: 'sent', outcome: 'accepted', nextAttemptAt: null };
    case 'rejected':
      return { ...common, state: 'failed', outcome: 'rejected', nextAttemptAt: null };
    case 'ambiguous': {
      const isSpent = delivery.atMostOnce || delivery.wasUncertain;
      const next = isSpent ? null : now + uncertainWaitMs;
      return { ...common, state: 'uncertain', outcome: 'ambiguous', nextAttemptAt: next };
    }
    case 'deferred': {
      const next = nextAttemptAt(
        {
          attempts: delivery.attempts,
          acceptedAt: new Date(delivery.dueSince),
          now: new Date(now),
          kind: delivery.isAutomatic ? 'transactional' : 'personal',
          ...(result.retryAfterSeconds === undefined
            ? {}
            : { retryAfterSeconds: result.retryAfterSeconds }),
        },
        random,
      );
      if (next !== null) {
        return { ...common, state: 'deferred', outcome: 'deferred', nextAttemptAt: next.getTime() };
      }
      const reason = common.diagnostic ?? 'no server took it';
      return {
        ...common,
        state: 'failed',
        outcome: 'deferred',
        nextAttemptAt: null,
        diagnostic: `Given up after ${delivery.attempts} attempts: ${reason}`.slice(
          0,
          MAX_DIAGNOSTIC,
        ),
      };
    }
  }
}

/** The mail must not leave any more, whatever its state was when it was due. */
export function withdrawn(reason: string): DeliveryResult {
  return {
    state: 'canceled',
    outcome: 'canceled',
    nextAttemptAt: null,
    phase: null,
    smtpCode: null,
    enhanced: null,
    diagnostic: reason,
  };
}
