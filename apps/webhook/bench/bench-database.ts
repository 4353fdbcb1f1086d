import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { applyMigrations } from '@dak/platform/migrations';

export interface BenchDatabase {
  /** Under the runtime role. */
  url: string;
  adminUrl: string;
  drop(): Promise<void>;
}

const FOLDERS = {
  webhook: join(__dirname, '../prisma/migrations'),
  log: join(__dirname, '../../../libs/platform/log/migrations'),
  mail: join(__dirname, '../../mail/prisma/migrations'),
};

/** A migrated database of its own in the cluster of `adminUrl`. */
export async function createBenchDatabase(
  adminUrl: string,
  service: keyof typeof FOLDERS,
): Promise<BenchDatabase> {
  const database = `dak_bench_${service}_${randomBytes(4).toString('hex')}`;
  const folder = FOLDERS[service];
  const { url } = await applyMigrations({ adminUrl, database, role: `dak_${service}`, folder });
  return { url, adminUrl: withDatabase(adminUrl, database), drop: () => drop(adminUrl, database) };
}

/** An empty one, for peers that make their own tables. */
export async function createEmptyDatabase(adminUrl: string): Promise<BenchDatabase> {
  const database = `dak_bench_peer_${randomBytes(4).toString('hex')}`;
  await run(adminUrl, `create database ${database}`);
  const url = withDatabase(adminUrl, database);
  return { url, adminUrl: url, drop: () => drop(adminUrl, database) };
}

async function drop(adminUrl: string, database: string): Promise<void> {
  await run(adminUrl, `drop database if exists ${database} with (force)`);
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

function withDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
