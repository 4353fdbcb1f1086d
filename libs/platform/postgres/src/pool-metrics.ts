import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type pg from 'pg';

export interface PoolMetrics {
  waited(ms: number): void;
  refused(): void;
}

const WATCHED = new WeakMap<Registry, Map<string, pg.Pool>>();

/** Several databases of a process share the metrics; the label distinguishes them. */
export function registerPool(registry: Registry, name: string, pool: pg.Pool): PoolMetrics {
  const pools = WATCHED.get(registry) ?? register(registry);
  pools.set(name, pool);
  const labels = { pool: name };
  const waits = registry.getSingleMetric('dak_postgres_pool_wait_seconds') as Histogram<'pool'>;
  const refusals = registry.getSingleMetric('dak_postgres_pool_refusals_total') as Counter<'pool'>;
  refusals.inc(labels, 0);
  return {
    waited: (ms) => waits.observe(labels, ms / 1000),
    refused: () => refusals.inc(labels),
  };
}

function register(registry: Registry): Map<string, pg.Pool> {
  const pools = new Map<string, pg.Pool>();
  WATCHED.set(registry, pools);
  const registers = [registry];
  const labelNames = ['pool'] as const;
  const gauges: [name: string, help: string, read: (pool: pg.Pool) => number][] = [
    ['connections', 'Open connections to PostgreSQL', (pool) => pool.totalCount],
    ['connections_idle', 'Idle connections to PostgreSQL', (pool) => pool.idleCount],
    ['waiting', 'Transactions waiting for a connection', (pool) => pool.waitingCount],
  ];
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `dak_postgres_pool_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        for (const [label, pool] of pools) this.set({ pool: label }, read(pool));
      },
    });
  }
  new Histogram({
    name: 'dak_postgres_pool_wait_seconds',
    help: 'Time that transactions waited for a connection when none was idle',
    labelNames,
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers,
  });
  new Counter({
    name: 'dak_postgres_pool_refusals_total',
    help: 'Transactions that got no connection, or not in time',
    labelNames,
    registers,
  });
  return pools;
}
