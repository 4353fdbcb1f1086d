import { Pool } from 'pg';
import { Database } from '@dak/platform/postgres';
import { slowPeer } from '@dak/testing/waiting';
import { KafkaLog, PostgresLog, type Log } from '../../src/index';

export const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';
export const CRASH_TOPICS = { 'mail.events.v1': 6 };
export const GROUP = 'ledger';
export const KEYS = 40;
export const LEASE_MS = 1_000;
/** Rows in one publication of a relay, which a kill can cause to be published again. */
export const RELAY_BATCH = 50;

/** What the writer did and the consumers made of it, beside the outbox and the inbox. */
export const STAGE_TABLES = `
  create table aggregate (key text primary key, seq bigint not null);
  create table written (event_id text primary key, key text not null, seq bigint not null);
  create table ledger (position bigint generated always as identity primary key,
    event_id text not null, key text not null, seq bigint not null);
  create table balance (key text primary key, total bigint not null);
  create table delivery (delivered bigint not null, fresh bigint not null);`;

/** From the environment that the suite gives to its processes. */
export function openService(name: string): Database {
  return new Database({
    url: process.env['STAGE_SERVICE_URL']!,
    applicationName: name,
    maxConnections: 4,
  });
}

export function openStageLog(): Promise<Log> {
  const pool = new Pool({ connectionString: process.env['STAGE_LOG_URL']!, max: 4 });
  const brokers = process.env['STAGE_BROKERS'];
  const options = { pool, topics: CRASH_TOPICS, leaseMs: LEASE_MS, onError: ignore };
  return insist((): Promise<Log> =>
    brokers === undefined
      ? PostgresLog.open(options)
      : KafkaLog.open({ ...options, brokers: [brokers], onDead: die }),
  );
}

/** What a process needs to start may be away; a service would be started again and again instead. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await slowPeer(100);
    }
  }
}

export function onStop(stop: () => Promise<void>): void {
  process.once('SIGTERM', () => {
    stop().then(() => process.exit(0), die);
  });
}

function die(error: Error): never {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}

/** What goes wrong meanwhile is the point; who depends on it tries again. */
export function ignore(): void {}
