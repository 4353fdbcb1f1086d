import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RefusalReason } from './smtp-replies';

export type MailProtocol = 'smtp' | 'lmtp';

export interface InboundMetrics {
  /** Whose sessions a scrape counts from now on. */
  watchSessions(protocol: MailProtocol, sessions: () => number): void;
  refused(protocol: MailProtocol, reason: RefusalReason): void;
  accepted(protocol: MailProtocol): void;
  /** A message was read; `inFull` is false when it took too long and only a part of it could be read. */
  read(seconds: number, inFull: boolean): void;
  /** A message that had been accepted so long ago became visible. Imports do not count. */
  stored(secondsSinceAccepted: number): void;
}

/** What happens at the doors and behind them; no label names a tenant or a client. */
export function createInboundMetrics(registry: Registry): InboundMetrics {
  const registers = [registry];
  const sessions = new Map<MailProtocol, () => number>();
  new Gauge({
    name: 'dak_smtp_sessions',
    help: 'Open sessions of the SMTP and LMTP listeners',
    labelNames: ['protocol'],
    registers,
    collect() {
      for (const [protocol, count] of sessions) this.set({ protocol }, count());
    },
  });
  const refusals = new Counter({
    name: 'dak_smtp_refusals_total',
    help: 'Refused sessions, recipients and messages, by reason',
    labelNames: ['protocol', 'reason'],
    registers,
  });
  const accepted = new Counter({
    name: 'dak_smtp_messages_total',
    help: 'Messages answered with 250',
    labelNames: ['protocol'],
    registers,
  });
  const reading = new Histogram({
    name: 'dak_mail_reading_seconds',
    help: 'Time to parse one message',
    labelNames: ['in_full'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const waits = new Histogram({
    name: 'dak_mail_queue_wait_seconds',
    help: 'Time from the 250 to the stored message, excluding imports',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    registers,
  });
  return {
    watchSessions: (protocol, count) => void sessions.set(protocol, count),
    refused: (protocol, reason) => refusals.inc({ protocol, reason }),
    accepted: (protocol) => accepted.inc({ protocol }),
    read: (seconds, inFull) => reading.observe({ in_full: String(inFull) }, seconds),
    stored: (seconds) => waits.observe(Math.max(0, seconds)),
  };
}
