import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { applyMigrations } from '@dak/platform/migrations';
import type { Database } from '@dak/platform/postgres';
import { KafkaLog, OutboxRelay, PostgresLog, appendToOutbox, type Log } from '../src/index';
import { ORGANIZATION, eventOf, openBenchService, receiveMail } from './bench-service';

export interface LogLoad {
  /** Administrator's URL of a cluster with fsync on. */
  readonly adminUrl: string;
  /** `host:port`; null leaves Kafka out. */
  readonly brokers: string | null;
  /** Relayed and caught up with. */
  readonly events: number;
  /** Durations of transactions with and without the outbox, alternating. */
  readonly rounds: number;
}

export interface LogResult {
  outbox: OutboxCost;
  postgres: DriverResult;
  kafka: DriverResult | null;
}

export interface OutboxCost {
  /** Transactions of a received mail by eight callers, medians of the rounds. */
  withoutPerSecond: number;
  withPerSecond: number;
  /** What the outbox adds to the time of a transaction. */
  percent: number;
}

export interface DriverResult {
  relayPerSecond: number;
  /** One member of one group, from the beginning of the log to its end. */
  catchUpPerSecond: number;
  /** Milliseconds from the commit of a transaction to its event being in the log, and to its handler. */
  relayLag: Percentiles;
  toHandler: Percentiles;
}

export interface Percentiles {
  p50: number;
  p99: number;
}

const CALLERS = 8;
/** In a round, without and with an event each. */
const TRANSACTIONS = 10_000;
const SLICES = 10;
const LIVE_PER_SECOND = 200;
const LIVE_SECONDS = 5;
const TOPICS = { 'mail.events.v1': 12 };

/** What events cost a service, and how fast the relay and a consumer are, for each driver there is. */
export async function measureLog(load: LogLoad): Promise<LogResult> {
  const outbox = await measureOutbox(load.adminUrl, load.rounds);
  const { url, drop } = await openLogDatabase(load.adminUrl);
  const pool = new Pool({ connectionString: url, max: 10 });
  const postgres = await PostgresLog.open({ pool, topics: TOPICS });
  const result: LogResult = {
    outbox,
    postgres: await measureDriver(load, postgres),
    kafka: null,
  };
  await postgres.close();
  if (load.brokers !== null) {
    const kafka = await KafkaLog.open({
      brokers: [load.brokers],
      pool,
      topics: TOPICS,
      prefix: `bench-${randomBytes(4).toString('hex')}.`,
      onDead: (error) => {
        throw error;
      },
    });
    result.kafka = await measureDriver(load, kafka);
    await kafka.close();
  }
  await pool.end();
  await drop();
  return result;
}

async function openLogDatabase(
  adminUrl: string,
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `log_bench_${randomUUID().replaceAll('-', '')}`;
  const folder = join(__dirname, '../migrations');
  const { url } = await applyMigrations({ adminUrl, database: name, role: name, folder });
  return {
    url,
    drop: async () => {
      const admin = new Pool({ connectionString: adminUrl, max: 1 });
      await admin.query(`drop database ${name} with (force)`);
      await admin.query(`drop role ${name}`);
      await admin.end();
    },
  };
}

/** The same transaction with and without an event, in turns, so that both meet the same machine. */
async function measureOutbox(adminUrl: string, rounds: number): Promise<OutboxCost> {
  const service = await openBenchService(adminUrl);
  let n = 0;
  const run = (withEvent: boolean, count: number): Promise<number> =>
    perSecondOf(count, () => {
      n += 1;
      const number = n;
      return service.database.inTenant(ORGANIZATION, (tx) => receiveMail(tx, number, withEvent));
    });
  for (const withEvent of [false, true]) await run(withEvent, TRANSACTIONS / 4);
  const without: number[] = [];
  const withEvents: number[] = [];
  for (let slice = 0; slice < rounds * SLICES; slice += 1) {
    without.push(await run(false, TRANSACTIONS / SLICES));
    withEvents.push(await run(true, TRANSACTIONS / SLICES));
    // As relay and autovacuum leave it: a new file would be grown under the callers, page by page.
    await service.database.pool.query('delete from outbox');
    await service.database.pool.query('vacuum (truncate off) outbox');
  }
  await service.close();
  return {
    withoutPerSecond: median(without),
    withPerSecond: median(withEvents),
    // Slice by slice: neighbors on the machine come and go.
    percent: median(without.map((rate, slice) => (rate / withEvents[slice]! - 1) * 100)),
  };
}

async function perSecondOf(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let begun = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (begun < count) {
        begun += 1;
        await work();
      }
    }),
  );
  return (count / (performance.now() - started)) * 1_000;
}

async function measureDriver({ adminUrl, events }: LogLoad, log: Log): Promise<DriverResult> {
  const service = await openBenchService(adminUrl);
  const { database } = service;
  for (let n = 0; n < events; n += 500) {
    const batch = Array.from({ length: Math.min(500, events - n) }, (_, i) => eventOf(n + i));
    await database.inTenant(ORGANIZATION, (tx) => appendToOutbox(tx, batch));
  }
  const relay = new OutboxRelay({
    source: database,
    channel: log.openRelay(randomUUID(), 'bench'),
  });
  let started = performance.now();
  relay.start();
  while ((await relay.depth()).rows > 0) await delay(10);
  const relayPerSecond = (events / (performance.now() - started)) * 1_000;

  const committedAt = new Map<string, number>();
  const relayLag: number[] = [];
  const toHandler: number[] = [];
  let handled = 0;
  started = performance.now();
  const member = await log.subscribe(randomUUID(), Object.keys(TOPICS), async (records) => {
    handled += records.length;
    const now = performance.timeOrigin + performance.now();
    for (const { id, publishedAt } of records) {
      const committed = committedAt.get(id);
      if (committed === undefined) continue;
      relayLag.push(publishedAt - committed);
      toHandler.push(now - committed);
    }
  });
  while (handled < events) await delay(2);
  const catchUpPerSecond = (events / (performance.now() - started)) * 1_000;

  const sent = await liveTraffic(database, events, committedAt);
  while (handled < events + sent) await delay(10);
  await member.close();
  await relay.stop();
  await service.close();
  return {
    relayPerSecond,
    catchUpPerSecond,
    relayLag: percentiles(relayLag),
    toHandler: percentiles(toHandler),
  };
}

/** Transactions at a steady rate, with the time of each commit as the service learns of it. */
async function liveTraffic(
  database: Database,
  from: number,
  committedAt: Map<string, number>,
): Promise<number> {
  const begun = performance.now();
  const running: Promise<void>[] = [];
  while (performance.now() - begun < LIVE_SECONDS * 1_000) {
    const due = Math.floor(((performance.now() - begun) / 1_000) * LIVE_PER_SECOND);
    while (running.length < due) {
      const event = eventOf(from + running.length);
      running.push(
        database.inTenant(ORGANIZATION, async (tx) => {
          await receiveMail(tx, event.sequence, true);
          tx.afterCommit(() =>
            committedAt.set(event.id, performance.timeOrigin + performance.now()),
          );
        }),
      );
    }
    await delay(1);
  }
  await Promise.all(running);
  return running.length;
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
