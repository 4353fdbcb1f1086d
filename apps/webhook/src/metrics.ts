import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '@dak/platform/postgres';
import { registerDatabaseSize } from '@dak/platform/telemetry';
import type { BreakerState } from './decisions/breaker';
import type { Verdict } from './decisions/classify-outcome';
import { measureDatabase, measureQueue, MOST_COUNTED } from './lanes/queue-store';

export interface WebhookMetrics {
  attempted(verdict: Verdict, waitedMs: number | null): void;
  fannedOut(events: number, deliveries: number): void;
  disabled(reason: string): void;
}

/** @param breakerStates of the endpoints that this process sends to */
export function createWebhookMetrics(
  registry: Registry,
  database: Database,
  breakerStates: () => readonly BreakerState['state'][],
): WebhookMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'dak_webhook_attempts_total',
    help: 'Delivery attempts of webhooks, by outcome',
    labelNames: ['outcome', 'error_code'],
    registers,
  });
  const latency = new Histogram({
    name: 'dak_webhook_first_attempt_seconds',
    help: 'Time from a delivery’s commit to its first attempt',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
    registers,
  });
  const events = new Counter({
    name: 'dak_webhook_events_total',
    help: 'Events read from the log',
    registers,
  });
  const deliveries = new Counter({
    name: 'dak_webhook_deliveries_total',
    help: 'Deliveries created from events',
    registers,
  });
  const disabled = new Counter({
    name: 'dak_webhook_endpoints_disabled_total',
    help: 'Endpoints disabled, by reason',
    labelNames: ['reason'],
    registers,
  });
  new Gauge({
    name: 'dak_webhook_breakers',
    help: 'Endpoints this process sends to, by state of their circuit breaker',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset();
      for (const state of ['closed', 'open', 'half_open']) this.set({ state }, 0);
      for (const state of breakerStates()) this.inc({ state });
    },
  });
  const oldest = new Gauge({
    name: 'dak_webhook_oldest_due_seconds',
    help: 'How long the oldest due delivery of all endpoints has been due; 0 while all are held',
    registers,
  });
  const hold = new Gauge({
    name: 'dak_webhook_hold',
    help: '1 while the deployment’s webhooks are held',
    registers,
  });
  new Gauge({
    name: 'dak_webhook_due_deliveries',
    help: `Deliveries that are due and not finished, at most ${MOST_COUNTED}`,
    registers,
    async collect() {
      this.remove();
      oldest.remove();
      hold.remove();
      const row = await database.asWorker(measureQueue).catch(() => undefined);
      if (row === undefined) return;
      this.set(row.depth);
      oldest.set(row.oldest);
      hold.set(row.hold);
    },
  });
  registerDatabaseSize(registry, 'webhook', () => database.asWorker(measureDatabase));
  return {
    attempted({ kind, errorCode }, waitedMs) {
      attempts.inc({ outcome: kind, error_code: errorCode ?? '' });
      if (waitedMs !== null) latency.observe(waitedMs / 1000);
    },
    fannedOut(read, made) {
      events.inc(read);
      deliveries.inc(made);
    },
    disabled: (reason) => disabled.inc({ reason }),
  };
}
