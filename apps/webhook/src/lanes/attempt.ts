import { signatureHeader } from '@dak/formats/standard-webhooks';
import type { AttemptOutcome, GuardedHttp } from '@dak/platform/guarded-http';
import type { DueDelivery } from './due-delivery';
import type { LaneConfig } from './lane-config';

export const MAX_RESPONSE_CHARACTERS = 1_000;

/**
 * Makes one POST, signed with every secret in force at `now` (Standard Webhooks). Never rejects.
 * @param traceparent of its span, sent to the receiver; undefined without tracing
 */
export function attempt(
  http: GuardedHttp,
  config: LaneConfig,
  { eventId, body, gap }: Pick<DueDelivery, 'eventId' | 'body' | 'gap'>,
  now: number,
  traceparent: string | undefined,
): Promise<AttemptOutcome> {
  const timestamp = Math.floor(now / 1000);
  const secrets = config.keys
    .filter(({ validUntil }) => validUntil === null || validUntil > now)
    .map(({ key }) => key);
  return http.post(config.url, {
    headers: {
      ...config.headers,
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureHeader({ id: eventId, timestamp, body, secrets }),
      ...(gap ? { 'webhook-gap': 'true' } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body,
    timeoutMs: config.timeoutMs,
    tenant: config.organizationId,
  });
}

/** The start of an answer, fit for a text column. */
export function startOf(outcome: AttemptOutcome): string | null {
  if (outcome.kind === 'error' || outcome.bodyStart.length === 0) return null;
  const text = outcome.bodyStart.subarray(0, 4 * MAX_RESPONSE_CHARACTERS).toString('utf8');
  return text.replaceAll('\0', '').slice(0, MAX_RESPONSE_CHARACTERS);
}
