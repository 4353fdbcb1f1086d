import type { SqlExecutor } from '@dak/platform/postgres';

export interface ErasureRow {
  id: string;
  requestedAt: string;
  requesterId: string;
  requesterName: string;
  requesterOrganization: string;
  requestId: string;
  rows: number;
  blobs: number;
  bytes: number;
  finishedAt: string | null;
}

const COLUMNS = `id, requested_at as "requestedAt", requester_id as "requesterId", requester_name as "requesterName",
  requester_organization as "requesterOrganization", request_id as "requestId", rows_removed as "rows",
  blobs_removed as "blobs", bytes_removed as "bytes", finished_at as "finishedAt"`;

export async function insertErasure(
  tx: SqlExecutor,
  row: Pick<
    ErasureRow,
    'id' | 'requesterId' | 'requesterName' | 'requesterOrganization' | 'requestId'
  >,
): Promise<void> {
  await tx.query(
    `insert into erasure (id, requester_id, requester_name, requester_organization, request_id)
     values ($1::uuid, $2::uuid, $3, $4::uuid, $5) on conflict do nothing returning id`,
    [row.id, row.requesterId, row.requesterName, row.requesterOrganization, row.requestId],
  );
}

export async function selectErasure(tx: SqlExecutor, id: string): Promise<ErasureRow | null> {
  const { rows } = await tx.query<ErasureRow>(
    `select ${COLUMNS} from erasure where id = $1::uuid`,
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

/** Rows of an organization being erased; not announced. */
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
