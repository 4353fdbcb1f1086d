import type { SqlExecutor } from '@dak/platform/postgres';
import type { UploadRow } from './upload';

const COLUMNS = `token, user_id, filename, content_type, size_bytes, sha256, disposition, content_id,
  scan_status, created_at, expires_at`;

/** False when the token is taken. */
export async function insertUpload(
  tx: SqlExecutor,
  organizationId: string,
  row: UploadRow,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into upload (organization_id, ${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         on conflict do nothing`,
    [
      organizationId,
      row.token,
      row.user_id,
      row.filename,
      row.content_type,
      row.size_bytes,
      row.sha256,
      row.disposition,
      row.content_id,
      row.scan_status,
      row.created_at,
      row.expires_at,
    ],
  );
  return rowCount > 0;
}

/**
 * The uploads behind these tokens that `userId` may use: their own, and those that `draftId` holds,
 * since a draft belongs to everybody who may send from its mailbox. Missing ones are left out.
 */
export async function findUploads(
  tx: SqlExecutor,
  organizationId: string,
  tokens: readonly string[],
  userId: string,
  draftId: string | null,
): Promise<Map<string, UploadRow>> {
  if (tokens.length === 0) return new Map();
  const { rows } = await tx.query<UploadRow>(
    `select ${COLUMNS}
       from upload u
      where u.organization_id = $1 and u.token = any($2::text[])
        and (u.user_id = $3 and (u.expires_at > now()
                                 or exists (select from draft d where d.organization_id = $1
                                                                  and d.attachment_tokens @> array[u.token]))
             or exists (select from draft d where d.organization_id = $1 and d.id = $4
                                              and u.token = any(d.attachment_tokens)))`,
    [organizationId, tokens, userId, draftId],
  );
  return new Map(rows.map((row) => [row.token, row]));
}

/** False when there is none of this user. */
export async function deleteUpload(
  tx: SqlExecutor,
  organizationId: string,
  token: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'delete from upload where organization_id = $1 and token = $2 and user_id = $3',
    [organizationId, token, userId],
  );
  return rowCount > 0;
}

/** Removes expired uploads that no draft names, of all organizations; at most `limit`. Their content is noted as perhaps not needed. */
export async function deleteExpiredUploads(worker: SqlExecutor, limit: number): Promise<number> {
  const { rows } = await worker.query<{ deleted: number }>(
    `with gone as (
       delete from upload
        where (organization_id, token) in (
                select u.organization_id, u.token
                  from upload u
                 where u.expires_at < now()
                   and not exists (select from draft d where d.organization_id = u.organization_id
                                                         and d.attachment_tokens @> array[u.token])
                 limit $1)
       returning organization_id, sha256),
     noted as (
       insert into blob_candidate (organization_id, sha256)
       select distinct organization_id, sha256 from gone
           on conflict do nothing)
     select count(*) as deleted from gone`,
    [limit],
  );
  return rows[0]!.deleted;
}

/** Content that was stored for an upload which was refused then: perhaps nothing needs it. */
export async function noteRefusedContent(
  tx: SqlExecutor,
  organizationId: string,
  sha256: string,
): Promise<void> {
  await tx.query(
    'insert into blob_candidate (organization_id, sha256) values ($1, $2) on conflict do nothing',
    [organizationId, sha256],
  );
}
