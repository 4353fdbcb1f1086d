import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { isUuid } from '@dak/kernel';
import { SENT_SINCE, type BackupFile } from './manifest';
import { storeFile } from './stored-file';

/** Rows bear the time before their transaction, by the clock of another machine perhaps. */
const MARGIN = '10 minutes';

/**
 * What went to a mailbox of this deployment is left out: its mail is not in the backup either, and goes there again.
 * Members are those of an entry of the journal of deliveries, `apps/mail/src/delivery/delivery-journal.ts`.
 */
const SENT = `
  select json_build_object(
           'organizationId', organization_id, 'deliveryId', id, 'epoch', lease_epoch,
           'transport', coalesce(transport, ''), 'smtpCode', smtp_code, 'enhanced', enhanced,
           'text', coalesce(diagnostic, ''))::text as line
    from delivery
   where state = 'sent' and updated_at >= $1::timestamptz - interval '${MARGIN}' and transport is distinct from 'local'`;

/** Leaves them as a crash between acceptance and commit would, for the mail service to find. */
const AWAIT_ENTRY = `
  update delivery d
     set state = 'uncertain', was_uncertain = true, lease_epoch = (e.line ->> 'epoch')::integer,
         lease_owner = null, lease_until = null, next_attempt_at = now() + interval '1 hour'
    from (select line::json as line from unnest($1::text[]) as line) e
   where d.organization_id = (e.line ->> 'organizationId')::uuid and d.id = (e.line ->> 'deliveryId')::uuid
     and d.state in ('held', 'scheduled', 'queued', 'deferred', 'sending', 'uncertain')`;

/**
 * Notes what the next hops have accepted since the moment: a backup under way does not stop mail from leaving, and what
 * has left must not leave again when the backup is restored.
 */
export async function storeSentSince(
  url: string,
  moment: string,
  folder: string,
): Promise<BackupFile> {
  const client = new pg.Client({ connectionString: url, application_name: 'dak backup' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(SENT, [moment]);
    return await storeFile(folder, SENT_SINCE, Readable.from(rows.map(({ line }) => `${line}\n`)));
  } finally {
    await client.end();
  }
}

/**
 * The next start of Dak finds the acceptances in the journal and records them with all that follows from them. Journals
 * of several processes become the one that every run reads, in whatever number of processes it goes on.
 * @param journals files of the backup with journals of deliveries
 */
export async function restoreAcceptances(
  client: pg.Client,
  folder: string,
  journals: readonly string[],
  dataDir: string,
): Promise<void> {
  const lines = [...journals, SENT_SINCE].flatMap((path) =>
    readFileSync(join(folder, path), 'utf8').split('\n').filter(isEntry),
  );
  if (lines.length === 0) return;
  await client.query(AWAIT_ENTRY, [lines]);
  const journal = join(dataDir, 'journal');
  mkdirSync(journal, { recursive: true, mode: 0o700 });
  const text = lines.map((line) => `${line}\n`).join('');
  writeFileSync(join(journal, 'deliveries.journal'), text, { mode: 0o600 });
}

/** A journal that was copied while a process wrote into it may begin or end with a part of a line. */
function isEntry(line: string): boolean {
  try {
    const entry = JSON.parse(line) as { organizationId?: unknown; deliveryId?: unknown } | null;
    return isUuid(entry?.organizationId) && isUuid(entry?.deliveryId);
  } catch {
    return false;
  }
}
