import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import type { EventEnvelope } from '@dak/contracts/events';
import { applyMigrations } from '@dak/platform/migrations';
import { Database } from '@dak/platform/postgres';
import { systemBinaries } from '@dak/platform/embedded-postgres';
import { isAlive, startCluster } from '@dak/testing/database';
import { OutboxRelay, PostgresLog, appendToOutbox } from '../src/index';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';
const EVENTS = Number(process.argv[2] ?? 40_000);
const OUTBOX = `
  create table outbox (seq bigint generated always as identity primary key, id text not null,
    topic text not null, key text not null, shard smallint not null, headers jsonb not null,
    payload bytea not null, created_at timestamptz not null default now())`;

function event(n: number): EventEnvelope {
  return {
    id: `evt_0192f0c4-0000-7000-8000-${String(n).padStart(12, '0')}`,
    type: 'mail.received',
    source: 'mail',
    organizationId: ORGANIZATION,
    conversationId: `c${n % 997}`,
    partitionKey: `${ORGANIZATION}:c${n % 997}`,
    causationDepth: 0,
    sequence: n,
    occurredAt: new Date(),
    dataSchema: 'dak.events.v1.MailReceived',
    dataVersion: 1,
    data: Buffer.alloc(600, n % 256),
  };
}

function report(what: string, count: number, started: number): void {
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(
    `${what}: ${Math.round(count / seconds)}/s (${count} in ${seconds.toFixed(2)} s)\n`,
  );
}

function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
}

/** On a cluster of its own with fsync on: relay throughput, catch-up of one consumer, latency end to end. */
async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dak-log-bench-'));
  chmodSync(folder, 0o711);
  const server = await startCluster(folder, systemBinaries()!);
  const adminUrl = server.details['adminUrl']!;
  const admin = new Pool({ connectionString: adminUrl });
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    await admin.query(`alter system set ${setting} = on`);
  }
  await admin.query('select pg_reload_conf()');
  const { url } = await applyMigrations({
    adminUrl,
    database: 'dak_log',
    role: 'dak_log',
    folder: join(__dirname, '../migrations'),
  });
  await admin.query('create database dak_service');
  const service = new Database({
    url: adminUrl.replace(/postgres$/, 'dak_service'),
    applicationName: 'bench',
  });
  await service.pool.query(OUTBOX);
  const pool = new Pool({ connectionString: url, max: 10 });
  const log = await PostgresLog.open({ pool, topics: { 'mail.events.v1': 12 } });

  let started = performance.now();
  for (let n = 0; n < EVENTS; n += 500) {
    const batch = Array.from({ length: 500 }, (_, i) => event(n + i));
    await service.inTenant(ORGANIZATION, (tx) => appendToOutbox(tx, batch));
  }
  report('append to outbox, 500 a transaction', EVENTS, started);

  const relay = new OutboxRelay({ source: service, channel: log.openRelay('mail', 'bench') });
  started = performance.now();
  relay.start();
  while ((await relay.depth()).rows > 0) await delay(20);
  report('relay outbox to log', EVENTS, started);

  let handled = 0;
  const latencies: number[] = [];
  let live = false;
  started = performance.now();
  await log.subscribe('bench', ['mail.events.v1'], async (records) => {
    handled += records.length;
    if (live) for (const { headers } of records) latencies.push(Date.now() - Number(headers['at']));
  });
  while (handled < EVENTS) await delay(5);
  report('consumer catch-up, one member', EVENTS, started);

  live = true;
  const perSecond = 500;
  const until = performance.now() + 5_000;
  let sent = 0;
  const begun = performance.now();
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - begun) / 1000) * perSecond);
    for (; sent < due; sent += 1) {
      await service.inTenant(ORGANIZATION, async (tx) => {
        await tx.query(
          `insert into outbox (id, topic, key, shard, headers, payload)
           values ($1, 'mail.events.v1', $2, $3, $4, 'x')`,
          [`evt_live_${sent}`, `k${sent % 50}`, sent % 8, { at: String(Date.now()) }],
        );
      });
      relay.wake();
    }
    await delay(1);
  }
  while (latencies.length < sent) await delay(10);
  latencies.sort((a, b) => a - b);
  process.stdout.write(
    `insert to handler at ${Math.round(sent / 5)}/s: p50 ${percentile(latencies, 0.5)} ms, p99 ${percentile(latencies, 0.99)} ms\n`,
  );

  await relay.stop();
  await log.close();
  await Promise.all([service.close(), pool.end(), admin.end()]);
  process.kill(server.pid, 'SIGINT');
  while (isAlive(server.pid)) await delay(20);
  rmSync(folder, { recursive: true, force: true });
}

void main();
