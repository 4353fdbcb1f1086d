import { setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '@dak/kernel';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { firstIdOf } from './first-id-of';

/** Rows of one statement. */
const PAGE = 5_000;
/** Clocks of processes that make ids may differ so much. */
const SKEW_MS = 600_000;
const WAIT_EVERY_MS = 20;
const MOST_WAIT_MS = 60_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Columns that name content, of tables whose ids grow with time. */
const GROWING = [
  { table: 'message', column: 'raw_sha256' },
  { table: 'attachment', column: 'sha256' },
  { table: 'submission', column: 'raw_sha256' },
] as const;

/** And of tables that are small: content that waits for something. */
const SMALL = [
  { table: 'upload', column: 'sha256', where: 'true' },
  { table: 'inbound_spool', column: 'raw_sha256', where: 'true' },
  // Mail that is moved to another time gets other content.
  { table: 'submission', column: 'raw_sha256', where: 'finished_at is null' },
] as const;

/**
 * Which of some content an organization refers to. All references are walked through once, because
 * an index by content would cost every mail more than a walk costs an hour.
 */
export async function findReferenced(
  database: Database,
  organizationId: string,
  candidates: readonly string[],
  from: string = FIRST_ID,
): Promise<Set<string>> {
  const wanted = new Set(candidates);
  const found = new Set<string>();
  for (const { table, column } of GROWING) {
    for (let last = from; ;) {
      const page = await database.inTenant(organizationId, (tx) =>
        selectPage(tx, organizationId, table, column, last),
      );
      for (const { sha256 } of page) if (wanted.has(sha256)) found.add(sha256);
      if (page.length < PAGE) break;
      last = page.at(-1)!.id;
    }
  }
  for (const { table, column, where } of SMALL) {
    const { rows } = await database.inTenant(organizationId, (tx) =>
      tx.query<{ sha256: string }>(
        `select distinct ${column} as sha256 from ${table}
          where organization_id = $1 and ${where} and ${column} = any($2::text[])`,
        [organizationId, [...wanted]],
      ),
    );
    for (const { sha256 } of rows) found.add(sha256);
  }
  return found;
}

/**
 * The set-aside content that is referenced after all, by rows written since `startedAt`.
 * Waits until every transaction that runs now has ended: one that has found the content before it was set
 * aside is visible then.
 * @throws UnavailableError when one does not end
 */
export async function findReferencedSince(
  database: Database,
  organizationId: string,
  candidates: readonly string[],
  startedAt: number,
): Promise<Set<string>> {
  const { rows } = await database.asWorker((tx) =>
    tx.query<{ end: string }>(`select pg_snapshot_xmax(pg_current_snapshot())::text as end`),
  );
  const deadline = Date.now() + MOST_WAIT_MS;
  for (;;) {
    const { rows: now } = await database.asWorker((tx) =>
      tx.query<{ over: boolean }>(
        `select pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8 as over`,
        [rows[0]!.end],
      ),
    );
    if (now[0]!.over) break;
    if (Date.now() > deadline) throw new UnavailableError('A transaction does not end.', 60);
    await delay(WAIT_EVERY_MS);
  }
  return findReferenced(database, organizationId, candidates, firstIdOf(startedAt - SKEW_MS));
}

async function selectPage(
  tx: SqlExecutor,
  organizationId: string,
  table: string,
  column: string,
  after: string,
): Promise<{ id: string; sha256: string }[]> {
  const { rows } = await tx.query<{ id: string; sha256: string }>(
    `select id, coalesce(${column}, '') as sha256
       from ${table} where organization_id = $1 and id > $2 order by id limit ${PAGE}`,
    [organizationId, after],
  );
  return rows;
}

export const MOST_CANDIDATES = 20_000;

export async function selectNoted(tx: SqlExecutor, organizationId: string): Promise<string[]> {
  const { rows } = await tx.query<{ sha256: string }>(
    `select sha256 from blob_candidate where organization_id = $1 limit ${MOST_CANDIDATES}`,
    [organizationId],
  );
  return rows.map(({ sha256 }) => sha256);
}

export async function forgetNoted(
  tx: SqlExecutor,
  organizationId: string,
  sha256s: readonly string[],
): Promise<void> {
  await tx.query('delete from blob_candidate where organization_id = $1 and sha256 = any($2)', [
    organizationId,
    sha256s,
  ]);
}
