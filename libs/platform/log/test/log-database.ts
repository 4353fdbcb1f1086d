import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import type { LogMessage } from '../src/log';
import { outboxSql } from './outbox-sql';

export interface LogDatabase {
  pool: Pool;
  admin: Pool;
  drop(): Promise<void>;
}

const LIBRARY = join(__dirname, '..');

/** A log database; `pool` has the runtime role. */
export async function openLogDatabase(): Promise<LogDatabase> {
  return withPools(
    await createTestDatabase({ name: 'log', migrationsFolder: join(LIBRARY, 'migrations') }),
  );
}

/** A service database that has nothing but the outbox. */
export async function openServiceDatabase(): Promise<LogDatabase & { url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'dak-outbox-'));
  const database = await createTestDatabase({
    name: 'outbox',
    migrationsFolder: prepareServiceMigrations(folder),
  });
  rmSync(folder, { recursive: true });
  return { ...withPools(database), url: database.url };
}

/** Migrations of a service that has the outbox and `tables`. @returns their folder. */
export function prepareServiceMigrations(folder: string, tables = ''): string {
  const migrations = join(folder, 'migrations');
  mkdirSync(join(migrations, '20261121000000_outbox'), { recursive: true });
  writeFileSync(
    join(migrations, '20261121000000_outbox/migration.sql'),
    `${outboxSql()}\n${tables}`,
  );
  return migrations;
}

function withPools(database: TestDatabase): LogDatabase {
  const pool = new Pool({ connectionString: database.url, max: 10 });
  const admin = new Pool({ connectionString: database.adminUrl, max: 2 });
  for (const each of [pool, admin]) each.on('error', () => undefined);
  return {
    pool,
    admin,
    drop: async () => {
      await Promise.all([pool.end(), admin.end()]);
      await database.drop();
    },
  };
}

/** As a restart of the database looks to its clients. */
export async function cutConnections(admin: Pool): Promise<void> {
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

let made = 0;

/** `count` messages of each key, numbered per key in the payload. */
export function messagesFor(topic: string, keys: readonly string[], count: number): LogMessage[] {
  const messages: LogMessage[] = [];
  for (let n = 1; n <= count; n += 1) {
    for (const key of keys) {
      made += 1;
      messages.push({
        id: `evt_${made}`,
        topic,
        key,
        headers: { n: String(n) },
        payload: Buffer.from(`${key}#${n}`),
      });
    }
  }
  return messages;
}
