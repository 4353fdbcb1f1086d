import { createSmtpPool, type SmtpEndpoint } from '@dak/platform/smtp-client';
import type { Transport } from './transport';

export interface RelayOptions {
  readonly endpoint: SmtpEndpoint;
  /** @default 25 */
  readonly maxConnections?: number;
  /** @default 500 */
  readonly maxMessages?: number;
}

/** Everything goes to one server that takes it further. */
export function createRelayTransport({
  endpoint,
  maxConnections = 25,
  maxMessages = 500,
}: RelayOptions): Transport {
  const pool = createSmtpPool({ maxConnections, maxMessages, maxSlow: 2 * maxConnections });
  return {
    name: 'relay',
    routeOf: () => 'relay',
    send: (submission, onPhase, organizationId, giveWay) =>
      pool.send(endpoint, submission, onPhase, organizationId, giveWay),
    close: (graceMs) => pool.close(graceMs),
  };
}
