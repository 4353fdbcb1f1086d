import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { UnavailableError } from '@dak/kernel';

/** A larger table is vacuumed where it is: rewriting it would hold up everybody for too long. */
const LARGEST_REWRITTEN = 256 * 1024 * 1024;
/** While a lock is waited for, others queue behind it. */
const LOOK_TIMEOUT_MS = 200;
const LOCK_TIMEOUT_MS = 1_000;
const ATTEMPTS = 10;
const OLDER_WAIT_MS = 10_000;
/** A bound of the loop; the settings keep fewer. */
const MOST_SEGMENTS = 80;

const LOCK_NOT_AVAILABLE = '55P03';

const TABLES = `
  select c.oid::regclass::text as name, pg_total_relation_size(c.oid)::float8 as bytes
    from pg_class c
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
   order by 1`;

/** Transactions that may still see what was deleted before. */
const OLDER = `
  select count(*)::integer as older
    from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()
     and backend_xmin is not null and age(backend_xmin) > age($1::text::xid)`;

/** The last of the files that were made ready for use and hold what was in them before. */
const LAST_SPARE = `
  select coalesce(max(name), '') as name
    from pg_ls_waldir()
   where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_lsn())`;

/**
 * Removes from the files of a cluster what deleted rows have left there. PostgreSQL keeps the bytes of a
 * deleted row in its page until others need the place, and those of every change in the write-ahead log until
 * its files are used again; so tables are rewritten and the files of the log overwritten. Of a larger table
 * the pages stay, and a log that is not ours to switch stays as it is.
 * @param adminUrl of an owner of the databases
 * @param options.isOurs the server is an embedded one, whose write-ahead log may be switched
 * @throws UnavailableError when a table stays locked for long, mostly before anything is rewritten
 */
export async function scrubDatabases(
  adminUrl: string,
  databases: readonly string[],
  { isOurs }: { isOurs: boolean },
): Promise<void> {
  for (const database of databases) {
    const url = new URL(adminUrl);
    url.pathname = `/${database}`;
    await withClient(url.toString(), scrubTables);
  }
  if (isOurs) await withClient(adminUrl, overwriteLog);
}

async function scrubTables(client: pg.Client): Promise<void> {
  await client.query('set statement_timeout = 0');
  await olderEnded(client);
  const { rows } = await client.query<{ name: string; bytes: number }>(TABLES);
  const rewritten = rows.filter(({ bytes }) => bytes <= LARGEST_REWRITTEN);
  // Else every attempt would hold up everybody for the tables before the one that cannot be had.
  await client.query(`set lock_timeout = ${LOOK_TIMEOUT_MS}`);
  for (const { name } of rewritten) {
    await whenFree(client, name, `do $$ begin lock table ${name} in access exclusive mode; end $$`);
  }
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  for (const table of rows) {
    const mode = rewritten.includes(table) ? '(full, analyze)' : '(analyze)';
    await whenFree(client, table.name, `vacuum ${mode} ${table.name}`);
  }
  // Samples of what columns hold.
  const samples = 'pg_catalog.pg_statistic';
  await whenFree(client, samples, `vacuum full ${samples}`).catch(unlessForbidden);
}

/** Bounded: a reader that does not end leaves rows for the next time. */
async function olderEnded(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ xid: string }>(
    'select (pg_current_xact_id()::text::bigint % 4294967296)::text as xid',
  );
  const deadline = Date.now() + OLDER_WAIT_MS;
  while (Date.now() < deadline) {
    const { rows: found } = await client.query<{ older: number }>(OLDER, [rows[0]!.xid]);
    if (found[0]!.older === 0) return;
    await delay(50);
  }
}

/** Gives up its turn whenever the table is locked, so that no other statement queues behind it for long. */
async function whenFree(client: pg.Client, table: string, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === ATTEMPTS) {
        throw new UnavailableError(
          `The table ${table} is held by another for long, so what deleted rows left in files is not removed yet.`,
        );
      }
      await delay(100 * attempt);
    }
  }
}

/**
 * A checkpoint recycles old files under future names, contents included; a switch
 * fills the rest of a file with zeros. It needs no setting, which would outlive a crash.
 */
async function overwriteLog(client: pg.Client): Promise<void> {
  await client.query('set statement_timeout = 0');
  await switchLog(client);
  await client.query('checkpoint');
  const { rows } = await client.query<{ name: string }>(LAST_SPARE);
  for (let turn = 0; turn < MOST_SEGMENTS; turn += 1) {
    if ((await switchLog(client)) > rows[0]!.name) break;
  }
  await client.query('checkpoint');
}

/** @returns the file that is written from now on */
async function switchLog(client: pg.Client): Promise<string> {
  // Nothing is switched while the file is empty.
  await client.query(`select pg_logical_emit_message(false, 'dak', ''), pg_switch_wal()`);
  const { rows } = await client.query<{ name: string }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as name',
  );
  return rows[0]!.name;
}

function unlessForbidden(error: unknown): void {
  if ((error as { code?: string }).code !== '42501') throw error;
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'dak scrub' });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
