import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** A larger table is vacuumed where it is: to write it anew would hold up everybody for too long. */
const LARGEST_REWRITTEN = 256 * 1024 * 1024;
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

const SPARE_SEGMENTS = `
  select count(*)::integer as spare
    from pg_ls_waldir()
   where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_lsn())`;

/**
 * Removes from the files of a cluster what deleted rows have left there. PostgreSQL keeps the bytes of a
 * deleted row in its page until others need the place, and those of every change in the write-ahead log until
 * its files are used again; so tables are written anew and the files of the log are replaced. Of a larger table
 * the pages stay, and a log that is not ours to switch stays as it is.
 * @param adminUrl of an owner of the databases
 * @param options.isOurs the server is an embedded one, whose write-ahead log may be switched
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
  if (isOurs) await withClient(adminUrl, replaceLog);
}

async function scrubTables(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query('set statement_timeout = 0');
  await olderEnded(client);
  const { rows } = await client.query<{ name: string; bytes: number }>(TABLES);
  for (const { name, bytes } of rows) {
    const mode = bytes <= LARGEST_REWRITTEN ? '(full, analyze)' : '(analyze)';
    await whenFree(client, `vacuum ${mode} ${name}`);
  }
  // Samples of what columns hold.
  await whenFree(client, 'vacuum full pg_catalog.pg_statistic').catch(unlessForbidden);
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

/** Gives up its turn whenever somebody else holds the table, so that nobody queues behind it for long. */
async function whenFree(client: pg.Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== LOCK_NOT_AVAILABLE || attempt >= ATTEMPTS) throw error;
      await delay(100 * attempt);
    }
  }
}

async function replaceLog(client: pg.Client): Promise<void> {
  await client.query('set statement_timeout = 0');
  await client.query('alter system set wal_recycle = off');
  try {
    await client.query('select pg_reload_conf()');
    await delay(200);
    // Files that were made ready hold what was in them before: they are used up, one after the other.
    for (let turn = 0; turn < MOST_SEGMENTS; turn += 1) {
      const { rows: found } = await client.query<{ spare: number }>(SPARE_SEGMENTS);
      await client.query(`select pg_logical_emit_message(false, 'dak', ''), pg_switch_wal()`);
      if (found[0]!.spare === 0) break;
    }
    await client.query('checkpoint');
    await client.query('checkpoint');
  } finally {
    await client.query('alter system reset wal_recycle');
    await client.query('select pg_reload_conf()');
  }
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
