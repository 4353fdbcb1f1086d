import { tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../../db/sql-parameters';
import type { UploadRow } from './upload';

const UPLOAD = tableColumns<UploadRow>('upload', {
  token: 'fixed',
  user_id: 'fixed',
  filename: 'fixed',
  content_type: 'fixed',
  size_bytes: 'fixed',
  sha256: 'fixed',
  disposition: 'fixed',
  content_id: 'fixed',
  scan_status: 'fixed',
  created_at: 'fixed',
  expires_at: 'fixed',
});

/** False when the token is taken. */
export async function insertUpload(
  tx: SqlExecutor,
  organizationId: string,
  row: UploadRow,
): Promise<boolean> {
  const json = JSON.stringify([{ ...row, organization_id: organizationId }], storable);
  const { rowCount } = await tx.query(`${UPLOAD.insert} on conflict do nothing`, [json]);
  return rowCount > 0;
}

/**
 * The uploads behind these tokens that `userId` may use: their own, and those that `draftId` holds,
 * since a draft belongs to all users who may send from its mailbox. Missing ones are left out.
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
    `select ${UPLOAD.list('u')}
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
