import { insertOfRows, tableColumns, type SqlExecutor } from '@dak/platform/postgres';

export interface ErasureRow {
  id: string;
  requested_at: string;
  requester_id: string;
  requester_name: string;
  requester_organization: string;
  request_id: string;
  rows_removed: number;
  blobs_removed: number;
  bytes_removed: number;
  finished_at: string | null;
}

const ERASURE = tableColumns<ErasureRow>('erasure', {
  id: 'fixed',
  requested_at: 'fixed',
  requester_id: 'fixed',
  requester_name: 'fixed',
  requester_organization: 'fixed',
  request_id: 'fixed',
  rows_removed: 'changes',
  blobs_removed: 'changes',
  bytes_removed: 'changes',
  finished_at: 'changes',
});

/** Leaves one alone that was asked for before. */
export async function insertErasure(
  tx: SqlExecutor,
  row: Pick<
    ErasureRow,
    'id' | 'requester_id' | 'requester_name' | 'requester_organization' | 'request_id'
  >,
): Promise<void> {
  const insert = `${insertOfRows('erasure', [row])} on conflict do nothing`;
  await tx.query(insert, [JSON.stringify([row])]);
}

export async function selectErasure(tx: SqlExecutor, id: string): Promise<ErasureRow | null> {
  const { rows } = await tx.query<ErasureRow>(
    `select ${ERASURE.list('e')} from erasure e where e.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** Those to go on with, and those of the last days, of which something may have come late. */
export async function selectErasures(
  tx: SqlExecutor,
  lateDays: number,
): Promise<{ running: string[]; late: string[] }> {
  const { rows } = await tx.query<{ id: string; running: boolean }>(
    `select id, finished_at is null as running from erasure
      where finished_at is null or finished_at > now() - make_interval(days => $1)
      order by requested_at`,
    [lateDays],
  );
  return {
    running: rows.filter(({ running }) => running).map(({ id }) => id),
    late: rows.filter(({ running }) => !running).map(({ id }) => id),
  };
}

export async function addErased(
  tx: SqlExecutor,
  id: string,
  erased: { rows: number; blobs: number; bytes: number },
): Promise<void> {
  await tx.query(
    `update erasure
        set rows_removed = rows_removed + $2, blobs_removed = blobs_removed + $3, bytes_removed = bytes_removed + $4
      where id = $1`,
    [id, erased.rows, erased.blobs, erased.bytes],
  );
}

/** Clears the name of an erased organization, without announcing it. */
export async function forgetName(tx: SqlExecutor, id: string): Promise<void> {
  await tx.query(
    `update organization set name = id::text, default_from_name = null, announced_version = version where id = $1`,
    [id],
  );
}

/** @returns whether it was not finished before */
export async function finishErasure(tx: SqlExecutor, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update erasure set finished_at = now() where id = $1 and finished_at is null',
    [id],
  );
  return rowCount > 0;
}

export async function deleteOrganization(tx: SqlExecutor, id: string): Promise<void> {
  await tx.query('delete from organization where id = $1', [id]);
}

export async function lockOrganization(
  tx: SqlExecutor,
  id: string,
): Promise<{ name: string; status: string } | null> {
  const { rows } = await tx.query<{ name: string; status: string }>(
    'select name, status from organization where id = $1::uuid for update',
    [id],
  );
  return rows[0] ?? null;
}
