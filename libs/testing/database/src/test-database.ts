import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import { applyMigrations } from '@dak/platform/migrations';
import { testPostgresUrl } from './postgres-server';

export interface TestDatabaseOptions {
  /** The service, e.g. `mail`; part of the database name. */
  name: string;
  /** A folder of `<timestamp>_<name>/migration.sql`. */
  migrationsFolder: string;
  /** The service's runtime role; `dak_<name>` by default. */
  role?: string;
}

export interface TestDatabase {
  database: string;
  role: string;
  /** As the owner; row-level security does not hold here. */
  adminUrl: string;
  /** As the runtime role: not the owner and without BYPASSRLS. */
  url: string;
  drop(): Promise<void>;
}

/**
 * A private database with all migrations applied: a clone of a template that is migrated once per
 * content of the migration files. Its tables have one column more than that, see {@link expand}.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const role = options.role ?? `dak_${options.name}`;
  const serverUrl = await testPostgresUrl();
  const template = `dak_tpl2_${options.name}_${migrationsHash(options.migrationsFolder, role)}`;
  const database = `dak_test_${options.name}_${randomBytes(6).toString('hex')}`;
  const runtimeUrl = await withClient(serverUrl, async (admin) => {
    const url = await ensureTemplate(admin, serverUrl, template, role, options.migrationsFolder);
    await admin.query(
      `create database ${database} template ${template} strategy ${await quickest(admin)}`,
    );
    return url;
  });
  return {
    database,
    role,
    adminUrl: withDatabase(serverUrl, database),
    url: withDatabase(runtimeUrl, database),
    drop: () =>
      withClient(serverUrl, async (admin) => {
        await admin.query(`drop database if exists ${database} with (force)`);
      }),
  };
}

/**
 * The template appears under its final name only when complete; workers wait for one another. Its
 * comment keeps the URL of the runtime role.
 */
async function ensureTemplate(
  admin: Client,
  serverUrl: string,
  template: string,
  role: string,
  folder: string,
): Promise<string> {
  const ready = await runtimeUrlOf(admin, template);
  if (ready !== null) return ready;
  await admin.query('select pg_advisory_lock(hashtext($1))', ['dak test templates']);
  try {
    const made = await runtimeUrlOf(admin, template);
    if (made !== null) return made;
    const database = `${template}_new`;
    await admin.query(`drop database if exists ${database} with (force)`);
    const { url } = await applyMigrations({ adminUrl: serverUrl, database, role, folder });
    await withClient(withDatabase(serverUrl, database), expand);
    await admin.query(`comment on database ${database} is ${admin.escapeLiteral(url)}`);
    await admin.query(`alter database ${database} with allow_connections false`);
    await admin.query(`alter database ${database} rename to ${template}`);
    return url;
  } finally {
    await admin.query('select pg_advisory_unlock(hashtext($1))', ['dak test templates']);
  }
}

/**
 * What the next version's migration may do while processes of this one go on working: every table gets a
 * column that is not null and has a default. So every suite shows that our statements name their columns.
 */
async function expand(client: Client): Promise<void> {
  await client.query(`
    do $$
    declare
      name text;
    begin
      for name in select oid::regclass::text from pg_class
                   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      loop
        execute format('alter table %s add column of_a_later_version integer not null default 1', name);
      end loop;
    end $$`);
}

/** Copying files takes half as long as copying through the log (22 to 43 ms), but flushes the cluster. */
async function quickest(admin: Client): Promise<'file_copy' | 'wal_log'> {
  const { rows } = await admin.query<{ fsync: string }>('show fsync');
  return rows[0]?.fsync === 'off' ? 'file_copy' : 'wal_log';
}

async function runtimeUrlOf(admin: Client, template: string): Promise<string | null> {
  const { rows } = await admin.query<{ url: string }>(
    `select shobj_description(oid, 'pg_database') as url from pg_database where datname = $1`,
    [template],
  );
  return rows[0]?.url ?? null;
}

function migrationFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name, 'migration.sql'))
    .sort();
}

function migrationsHash(folder: string, role: string): string {
  const hash = createHash('sha256').update(role);
  for (const file of migrationFiles(folder))
    hash.update(basename(dirname(file))).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.toString();
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
