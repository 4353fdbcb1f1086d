import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { UnavailableError } from '@dak/kernel';

/** A connection for each database, in a transaction that sees the same moment as the others do. */
export interface OneMoment<Name extends string> {
  moment: string;
  clients: Record<Name, pg.Client>;
  end(): Promise<void>;
}

/** So long it is tried without holding up anybody. */
const PATIENCE_MS = 5_000;
const GIVE_UP_MS = 60_000;
/** Shorter than PostgreSQL waits before it looks for deadlocks: it is always we who give way. */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 5;

/**
 * Opens a read-only transaction in each database of one cluster so that all of them see one moment. Numbers of
 * transactions belong to the cluster, and so does what a snapshot says about them: which were finished, in whatever
 * database. Snapshots that read the same therefore are of the same moment, and it is tried until all do. On a server
 * that is never still for a millisecond, writers are held up for at most half a second instead.
 * @param urls of the databases, under a role that owns their tables
 * @throws UnavailableError when neither succeeds within a minute
 */
export async function openOneMoment<Name extends string>(
  urls: Record<Name, string>,
): Promise<OneMoment<Name>> {
  const names = Object.keys(urls) as Name[];
  const clients = {} as Record<Name, pg.Client>;
  const all = (): pg.Client[] => Object.values(clients);
  const end = async (): Promise<void> => {
    await Promise.all(all().map((client) => client.end().catch(() => undefined)));
  };
  try {
    for (const name of names) clients[name] = await connected(urls[name]);
    const begun = performance.now();
    for (;;) {
      const waited = performance.now() - begun;
      const moment =
        waited < PATIENCE_MS ? await tryMoment(all()) : await withoutWriters(urls, all());
      if (moment !== null) return { moment, clients, end };
      if (waited > GIVE_UP_MS) throw tooBusy();
      await delay(PAUSE_MS);
    }
  } catch (error) {
    await end();
    throw error;
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'dak backup' });
  // A broken connection is reported by the statement that runs on it.
  client.on('error', () => undefined);
  await client.connect();
  // What row-level security would leave out fails instead; times are written the same everywhere.
  await client.query(
    `set row_security = off; set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = 0;
     set idle_in_transaction_session_timeout = 0`,
  );
  return client;
}

/** Null when the databases saw different moments. */
async function tryMoment(clients: readonly pg.Client[]): Promise<string | null> {
  const ask = async (text: string) =>
    Promise.all(clients.map((client) => client.query<{ snapshot: string; at: Date }>(text)));
  await ask('begin transaction isolation level repeatable read read only');
  // The first statement takes the snapshot; all are under way at the same time.
  const answers = await ask(
    'select pg_current_snapshot()::text as snapshot, clock_timestamp() as at',
  );
  const seen = answers.map(({ rows }) => rows[0]!);
  if (seen.every(({ snapshot }) => snapshot === seen[0]!.snapshot))
    return seen[0]!.at.toISOString();
  await ask('rollback');
  return null;
}

/** Null when the tables of all databases could not be locked in time. */
async function withoutWriters(
  urls: Record<string, string>,
  clients: readonly pg.Client[],
): Promise<string | null> {
  const barriers: pg.Client[] = [];
  try {
    for (const url of Object.values<string>(urls)) {
      const barrier = await connected(url);
      barriers.push(barrier);
      await barrier.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    }
    await Promise.all(
      barriers.map(async (barrier) => {
        const { rows } = await barrier.query<{ tables: string | null }>(TABLES);
        if (rows[0]!.tables !== null)
          await barrier.query(`lock table ${rows[0]!.tables} in share mode`);
      }),
    );
    return await tryMoment(clients);
  } catch (error) {
    if (isLockTimeout(error)) return null;
    throw error;
  } finally {
    await Promise.all(barriers.map((barrier) => barrier.end()));
  }
}

const TABLES = `
  select string_agg(quote_ident(relname), ', ') as tables
    from pg_class
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03';
}

function tooBusy(): UnavailableError {
  return new UnavailableError(
    'The databases were too busy to be seen at one moment for a minute: try again, or stop what runs for long in them.',
  );
}
