import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
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

const ROLE_PASSWORD = 'dak-test';

/**
 * A private database with all migrations applied: a clone of a template that is migrated once per
 * content of the migration files.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const role = options.role ?? `dak_${options.name}`;
  const serverUrl = await testPostgresUrl();
  const template = `dak_tpl_${options.name}_${migrationsHash(options.migrationsFolder, role)}`;
  const database = `dak_test_${options.name}_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl, async (admin) => {
    await ensureTemplate(admin, serverUrl, template, role, options.migrationsFolder);
    await admin.query(`create database ${quote(database)} template ${quote(template)}`);
  });
  return {
    database,
    role,
    adminUrl: withDatabase(serverUrl, database),
    url: withDatabase(serverUrl, database, { user: role, password: ROLE_PASSWORD }),
    drop: () =>
      withClient(serverUrl, async (admin) => {
        await admin.query(`drop database if exists ${quote(database)} with (force)`);
      }),
  };
}

/** The template appears under its final name only when complete; workers wait for one another. */
async function ensureTemplate(
  admin: Client,
  serverUrl: string,
  template: string,
  role: string,
  folder: string,
): Promise<void> {
  const exists = 'select 1 from pg_database where datname = $1';
  if ((await admin.query(exists, [template])).rowCount === 1) return;
  await admin.query('select pg_advisory_lock(hashtext($1))', ['dak test templates']);
  try {
    if ((await admin.query(exists, [template])).rowCount === 1) return;
    await ensureRole(admin, role);
    const unfinished = `${template}_new`;
    await admin.query(`drop database if exists ${quote(unfinished)} with (force)`);
    await admin.query(`create database ${quote(unfinished)} template template0`);
    await migrate(withDatabase(serverUrl, unfinished), role, folder);
    await admin.query(`alter database ${quote(unfinished)} with allow_connections false`);
    await admin.query(`alter database ${quote(unfinished)} rename to ${quote(template)}`);
  } finally {
    await admin.query('select pg_advisory_unlock(hashtext($1))', ['dak test templates']);
  }
}

async function ensureRole(admin: Client, role: string): Promise<void> {
  const found = await admin.query('select 1 from pg_roles where rolname = $1', [role]);
  const verb = found.rowCount === 1 ? 'alter' : 'create';
  await admin.query(
    `${verb} role ${quote(role)} with login nosuperuser nobypassrls nocreatedb nocreaterole password '${ROLE_PASSWORD}'`,
  );
}

async function migrate(adminUrl: string, role: string, folder: string): Promise<void> {
  await withClient(adminUrl, async (owner) => {
    const name = quote(role);
    await owner.query(
      `grant usage on schema public to ${name};
       alter default privileges in schema public grant select, insert, update, delete on tables to ${name};
       alter default privileges in schema public grant usage, select on sequences to ${name};
       alter default privileges in schema public grant execute on functions to ${name};`,
    );
    for (const migration of migrationFiles(folder)) {
      await owner.query(readFileSync(migration, 'utf8'));
    }
  });
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

function withDatabase(
  serverUrl: string,
  database: string,
  as?: { user: string; password: string },
): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (as !== undefined) {
    url.username = as.user;
    url.password = as.password;
  }
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

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
