import { DomainError } from '@dak/kernel';
import type { SharedState } from '@dak/platform/shared-state';
import { MAILBOX_LIMITS } from '@dak/contracts/api';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type SendLimits = Pick<typeof MAILBOX_LIMITS, 'sends_per_hour' | 'sends_per_day'>;

/** Takes one mail of what a mailbox may still send. @throws DomainError `send_limit` (rate_limited) */
export type TakeSend = (mailboxId: string) => Promise<void>;

/** Counted in the shared state, so that all replicas count together. */
export function createSendQuota(
  sharedState: Pick<SharedState, 'consume'>,
  limits: SendLimits = MAILBOX_LIMITS,
): TakeSend {
  return async (mailboxId) => {
    const hour = await sharedState.consume(
      `sends:hour:${mailboxId}`,
      limits.sends_per_hour,
      HOUR_MS,
    );
    if (!hour.allowed) throw sendLimit(limits.sends_per_hour, 'hour', hour.retryAfterMs);
    const day = await sharedState.consume(`sends:day:${mailboxId}`, limits.sends_per_day, DAY_MS);
    if (!day.allowed) throw sendLimit(limits.sends_per_day, 'day', day.retryAfterMs);
  };
}

function sendLimit(limit: number, span: 'hour' | 'day', retryAfterMs: number): DomainError {
  return new DomainError(
    'rate_limited',
    'send_limit',
    `mailbox_id has sent its ${limit} mails of this ${span}. Wait, or send from another mailbox.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) },
  );
}
