import type { SqlExecutor } from '@dak/platform/postgres';

export interface ImportFailure {
  /** Position in the stream, from 0. */
  index: number;
  reason: string;
}

export interface ImportRow {
  id: string;
  mailbox_id: string;
  status: 'running' | 'done' | 'failed';
  received: number;
  stored: number;
  duplicates: number;
  failed: ImportFailure[];
  failed_count: number;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
}

export interface ImportCount {
  stored: number;
  duplicates: number;
}

/** Failures that are listed one by one. */
const MAX_LISTED = 1000;

const COLUMNS = `j.id, j.mailbox_id, j.status, j.received, j.stored, j.duplicates, j.failed, j.failed_count,
  j.created_at, j.updated_at, j.finished_at`;

export async function insertImport(
  tx: SqlExecutor,
  organizationId: string,
  job: { id: string; mailboxId: string; contentType: string; createdBy: string },
): Promise<void> {
  await tx.query(
    `insert into import_job (organization_id, id, mailbox_id, content_type, status, created_by, created_at, updated_at)
     values ($1, $2, $3, $4, 'running', $5, now(), now())`,
    [organizationId, job.id, job.mailboxId, job.contentType, job.createdBy],
  );
}

/** Counts messages read from the stream, in the transaction that spools them. */
export async function addReceived(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  received: number,
  failures: readonly ImportFailure[],
): Promise<void> {
  await tx.query(
    `update import_job
        set received = received + $3, failed_count = failed_count + $4,
            failed = case when jsonb_array_length(failed) < ${MAX_LISTED} then failed || $5::jsonb else failed end,
            updated_at = now()
      where organization_id = $1 and id = $2`,
    [organizationId, id, received, failures.length, JSON.stringify(failures)],
  );
}

/** The stream has ended, with `failure` when it broke off: the job fails once the messages received are stored. */
export async function endReceiving(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  failure: ImportFailure | null,
): Promise<void> {
  await tx.query(
    `update import_job
        set received_all = true, updated_at = now(),
            failed = failed || $3::jsonb
      where organization_id = $1 and id = $2`,
    [organizationId, id, JSON.stringify(failure === null ? [] : [failure])],
  );
  await finishIfComplete(tx, organizationId, [id]);
}

/** In the transaction that stores the messages. */
export async function countImported(
  tx: SqlExecutor,
  organizationId: string,
  counts: ReadonlyMap<string, ImportCount>,
): Promise<void> {
  if (counts.size === 0) return;
  const ids = [...counts.keys()].sort();
  await tx.query(
    `update import_job j
        set stored = j.stored + c.stored, duplicates = j.duplicates + c.duplicates, updated_at = now()
       from unnest($2::uuid[], $3::integer[], $4::integer[]) as c(id, stored, duplicates)
      where j.organization_id = $1 and j.id = c.id`,
    [
      organizationId,
      ids,
      ids.map((id) => counts.get(id)!.stored),
      ids.map((id) => counts.get(id)!.duplicates),
    ],
  );
  await finishIfComplete(tx, organizationId, ids);
}

async function finishIfComplete(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    `update import_job
        -- Failures of single messages stand before the count; the one that ended the stream does not.
        set status = case when (failed -> -1 ->> 'index')::integer >= received then 'failed' else 'done' end,
            finished_at = now()
      where organization_id = $1 and id = any($2::uuid[]) and status = 'running' and received_all
        and stored + duplicates + failed_count >= received`,
    [organizationId, ids],
  );
}

export async function selectImport(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<ImportRow | null> {
  const { rows } = await tx.query<ImportRow>(
    `select ${COLUMNS} from import_job j where j.organization_id = $1 and j.id = $2`,
    [organizationId, id],
  );
  return rows[0] ?? null;
}

/** Streams that broke off with the process that read them: nothing touches such a job any more. */
export async function failAbandonedImports(tx: SqlExecutor, idleSeconds: number): Promise<void> {
  await tx.query(
    `update import_job j
        set status = 'failed', received_all = true, finished_at = now(), updated_at = now(),
            failed = failed || jsonb_build_array(jsonb_build_object('index', received, 'reason',
              'The stream broke off. Send the same file again: what is stored already is recognized.'))
      where status = 'running' and not received_all
        and updated_at < now() - make_interval(secs => $1)
        and not exists (select from inbound_spool s
                         where s.organization_id = j.organization_id and s.import_id = j.id)`,
    [idleSeconds],
  );
}
