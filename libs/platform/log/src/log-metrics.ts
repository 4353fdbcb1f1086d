import { Gauge, type Registry } from 'prom-client';
import type { Log } from './log';
import type { OutboxRelay } from './outbox-relay';

/** What is asked within this time of the last answer gets the same. */
const CACHED_MS = 2_000;

/** Lag and parked keys of this process's groups; absent while the log is unavailable. */
export function registerLogMetrics(registry: Registry, log: Log): void {
  const gauges = [
    {
      name: 'dak_log_lag',
      help: 'Events that a consumer group has not read',
      ask: cached(() => log.backlog(log.groups())),
    },
    {
      name: 'dak_log_parked_keys',
      help: 'Parked keys, by group',
      ask: cached(() => log.countParked(log.groups())),
    },
  ];
  for (const { name, help, ask } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['group'],
      registers: [registry],
      async collect() {
        const counts = await ask().catch(() => null);
        this.reset();
        if (counts === null) return;
        for (const group of log.groups()) this.set({ group }, counts.get(group) ?? 0);
      },
    });
  }
}

type Depth = Awaited<ReturnType<OutboxRelay['depth']>>;

/** Outboxes by the registry that shows them: a process may have several. */
const OUTBOXES = new WeakMap<Registry, Map<string, () => Promise<Depth>>>();

/** What waits in a service's outbox; absent while its database is away. Counts no further than 10 000. */
export function registerOutboxMetrics(
  registry: Registry,
  service: string,
  relay: Pick<OutboxRelay, 'depth'>,
): void {
  let outboxes = OUTBOXES.get(registry);
  if (outboxes === undefined) {
    outboxes = new Map();
    OUTBOXES.set(registry, outboxes);
    makeOutboxGauges(registry, outboxes);
  }
  outboxes.set(
    service,
    cached(() => relay.depth()),
  );
}

function makeOutboxGauges(
  registry: Registry,
  outboxes: ReadonlyMap<string, () => Promise<Depth>>,
): void {
  const gauge = (name: string, help: string, read: (depth: Depth) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['service'],
      registers: [registry],
      async collect() {
        const found = await Promise.all(
          [...outboxes].map(
            async ([service, ask]) => [service, await ask().catch(() => null)] as const,
          ),
        );
        this.reset();
        for (const [service, depth] of found)
          if (depth !== null) this.set({ service }, read(depth));
      },
    });
  gauge(
    'dak_outbox_depth',
    'Committed events that are not in the log yet, at most 10000',
    ({ rows }) => rows,
  );
  gauge(
    'dak_outbox_oldest_seconds',
    'Age of the oldest committed event that is not in the log yet',
    ({ oldestAgeMs }) => oldestAgeMs / 1_000,
  );
}

/** Several gauges of one scrape, and several scrapers, share an answer. */
function cached<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  let until = 0;
  return () => {
    if (answer !== null && performance.now() < until) return answer;
    until = Number.POSITIVE_INFINITY;
    answer = ask().finally(() => (until = performance.now() + CACHED_MS));
    return answer;
  };
}
