import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DomainError } from '@dak/kernel';

export interface MigrationTarget {
  /** An administrator's URL to any database of the cluster (may create roles and databases). */
  adminUrl: string;
  /** Database to make and migrate, e.g. `dak_mail`. */
  database: string;
  /** Runtime role, made without BYPASSRLS and without ownership, e.g. `dak_mail`. */
  role: string;
  /** Folder of `<timestamp>_<name>/migration.sql`, Prisma's layout. */
  folder: string;
  /** Names of the migrations to apply, where the database has to be as an earlier version had it. @default all */
  only?: readonly string[];
}

export interface MigrationReport {
  applied: string[];
  /** URL of the migrated database under its runtime role. */
  url: string;
}

const IDENTIFIER = /^[a-z_][a-z0-9_]{0,62}$/;
const HISTORY = `
  create table if not exists _prisma_migrations (
    id                  varchar(36) primary key,
    checksum            varchar(64) not null,
    finished_at         timestamptz,
    migration_name      varchar(255) not null,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;

/**
 * Creates the role and the database if absent and applies missing migrations, each in one
 * transaction, under an advisory lock so that replicas starting together do not race. The history
 * is the table that `prisma migrate` keeps, so its own commands accept it as up to date.
 * @throws DomainError `conflict` when a migration that was applied has been edited, or when the
 *   database was made by a newer version (it has a migration that this version does not know).
 */
export async function applyMigrations(target: MigrationTarget): Promise<MigrationReport> {
  for (const name of [target.database, target.role]) {
    if (!IDENTIFIER.test(name)) throw new Error(`not an SQL identifier: ${name}`);
  }
  const password = rolePassword(target.adminUrl, target.role);
  await withClient(target.adminUrl, (admin) => ensureDatabase(admin, target, password));
  const url = databaseUrl(target.adminUrl, target.database);
  const applied = await withClient(url, (client) => migrate(client, target));
  return { applied, url: databaseUrl(target.adminUrl, target.database, target.role, password) };
}

/** The password of a runtime role: derived from the administrator's, so that it need not be kept anywhere else. */
function rolePassword(adminUrl: string, role: string): string {
  const secret = decodeURIComponent(new URL(adminUrl).password);
  return createHmac('sha256', `dak:${secret}`).update(role).digest('base64url');
}

function databaseUrl(adminUrl: string, database: string, role?: string, password?: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  if (role !== undefined) url.username = role;
  if (password !== undefined) url.password = password;
  return url.toString();
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function ensureDatabase(
  admin: pg.Client,
  target: MigrationTarget,
  password: string,
): Promise<void> {
  const { database, role } = target;
  await admin.query(`select pg_advisory_lock(hashtext('dak:migrations'))`);
  try {
    await ensureRole(admin, target, password);
    const databases = await admin.query('select 1 from pg_database where datname = $1', [database]);
    if (!databases.rowCount) {
      await admin.query(`create database ${database} template template0 encoding 'UTF8'`);
      await admin.query(`revoke all on database ${database} from public`);
    }
    const granted = await admin.query<{ all: boolean }>(
      `select bool_and(has_database_privilege($1, $2, privilege)) as all
         from unnest(array['connect', 'temporary']) as privilege`,
      [role, database],
    );
    if (granted.rows[0]?.all !== true) {
      await admin.query(`grant connect, temporary on database ${database} to ${role}`);
    }
  } finally {
    await admin.query(`select pg_advisory_unlock(hashtext('dak:migrations'))`);
  }
}

/** What the runtime role must not be, by column of pg_roles. */
const ATTRIBUTES = {
  rolsuper: { wanted: false, word: 'nosuperuser' },
  rolcreatedb: { wanted: false, word: 'nocreatedb' },
  rolcreaterole: { wanted: false, word: 'nocreaterole' },
  rolbypassrls: { wanted: false, word: 'nobypassrls' },
  rolcanlogin: { wanted: true, word: 'login' },
} as const;
type Attribute = keyof typeof ATTRIBUTES;

/**
 * Changes of an existing role only what differs: an administrator who is no superuser may not even say
 * `nosuperuser` of a role, and may change another's password on PostgreSQL 16 or newer only with ADMIN
 * OPTION, which the role's maker has.
 */
async function ensureRole(
  admin: pg.Client,
  target: MigrationTarget,
  password: string,
): Promise<void> {
  const { role } = target;
  const literal = admin.escapeLiteral(password);
  const { rows } = await admin.query<Record<Attribute, boolean>>(
    `select ${Object.keys(ATTRIBUTES).join(', ')} from pg_roles where rolname = $1`,
    [role],
  );
  const [existing] = rows;
  if (existing === undefined) {
    const words = Object.values(ATTRIBUTES).map(({ word }) => word);
    await admin.query(`create role ${role} ${words.join(' ')} password ${literal}`);
    return;
  }
  const changes = (Object.keys(ATTRIBUTES) as Attribute[])
    .filter((name) => existing[name] !== ATTRIBUTES[name].wanted)
    .map((name) => ATTRIBUTES[name].word as string);
  if (!(await isPassword(target, password))) changes.push(`password ${literal}`);
  if (changes.length === 0) return;
  try {
    await admin.query(`alter role ${role} ${changes.join(' ')}`);
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== '42501') throw cause;
    const what = changes.map((change) => change.split(' ')[0]).join(', ');
    throw new DomainError(
      'forbidden',
      'role_not_administered',
      `This administrator may not change the role ${role} (${what}): run it as the administrator who made that role, or grant "${role}" to this one WITH ADMIN OPTION (a superuser for nosuperuser and nobypassrls).`,
      { cause },
    );
  }
}

/** Whether the role can log in with it; later refusals are not about the password. */
async function isPassword(
  { adminUrl, database, role }: MigrationTarget,
  password: string,
): Promise<boolean> {
  const connectionString = databaseUrl(adminUrl, database, role, password);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    return true;
  } catch (error) {
    return AFTER_LOGIN.has((error as { code?: string }).code ?? '');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** insufficient_privilege on the database, and a database that does not exist */
const AFTER_LOGIN = new Set(['42501', '3D000']);

async function migrate(
  client: pg.Client,
  { folder, role, only }: MigrationTarget,
): Promise<string[]> {
  await client.query(`select pg_advisory_lock(hashtext('dak:migrations'))`);
  await client.query(HISTORY);
  const history = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null',
  );
  const done = new Map(history.rows.map((row) => [row.migration_name, row.checksum]));
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  refuseNewerDatabase(done, names);

  const applied: string[] = [];
  for (const name of only ?? names) {
    const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    const known = done.get(name);
    if (known !== undefined) {
      if (known !== checksum) refuseEditedMigration(name);
      continue;
    }
    await patiently(name, () => applyOne(client, { name, sql, checksum, role }));
    applied.push(name);
  }
  return applied;
}

/**
 * However long a migration itself takes; but while it waits for the lock of a table, everybody else waits
 * behind it, so it lets them pass again and again.
 */
const LOCK_TIMEOUT = '3s';
const LOCK_ATTEMPTS = 20;
const LOCK_PAUSE_MS = 1_000;

async function applyOne(
  client: pg.Client,
  { name, sql, checksum, role }: { name: string; sql: string; checksum: string; role: string },
): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local statement_timeout = 0; set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(sql);
    await client.query(
      `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       values ($1, $2, now(), $3, 1)`,
      [randomUUID(), checksum, name],
    );
    await grantRuntimeRole(client, role);
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback');
    throw cause;
  }
}

async function patiently(name: string, apply: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply();
    } catch (cause) {
      const isLocked = (cause as { code?: unknown }).code === '55P03';
      if (!isLocked || attempt === LOCK_ATTEMPTS) {
        throw new Error(`migration ${name} failed: ${(cause as Error).message}`, { cause });
      }
      await delay(LOCK_PAUSE_MS);
    }
  }
}

/** Everything but the history: row-level security decides which rows; revocations (append-only tables) stand in the migrations as triggers. */
async function grantRuntimeRole(client: pg.Client, role: string): Promise<void> {
  await client.query(`
    grant usage on schema public to ${role};
    grant select, insert, update, delete on all tables in schema public to ${role};
    grant usage, select on all sequences in schema public to ${role};
    grant execute on all functions in schema public to ${role};
    revoke all on _prisma_migrations from ${role}`);
}

function refuseNewerDatabase(done: Map<string, string>, names: string[]): void {
  const unknown = [...done.keys()].filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw new DomainError(
    'conflict',
    'newer_database',
    `The database was made by a newer version of Dak (it has the migration ${unknown[0]}). Start that version, or use another data folder.`,
  );
}

function refuseEditedMigration(name: string): never {
  throw new DomainError(
    'conflict',
    'edited_migration',
    `The migration ${name} was applied in another form: its file has been edited since. Restore it and put the change into a new migration.`,
  );
}
