import type { PreparedStatement, SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../sql-parameters';
import type { SpoolEntry } from './spool-entry';

/** A claimed row: the entry and how often it has been tried, this time included. */
export interface ClaimedEntry extends SpoolEntry {
  readonly attempts: number;
}

/**
 * All bytes travel in one binary parameter and are cut apart by the server: an array of bytea would
 * go as hexadecimal text, twice the size, and cost both sides a second of parsing per 10 000 rows.
 */
const INSERT = `
  insert into inbound_spool
         (organization_id, id, mailbox_id, source, priority, queue_id, mail_from, recipient,
          client_address, helo, protocol, tls, raw, raw_sha256, size_bytes, import_id, import_index,
          unread, labels, next_attempt_at, received_at)
  select e.organization_id, e.id, e.mailbox_id, e.source, case e.source when 'import' then 1 else 0 end,
         e.queue_id, e.mail_from, e.recipient, e.client_address, e.helo, e.protocol, e.tls,
         case when e.raw_from is not null then substring($2::bytea from e.raw_from for e.size_bytes::integer) end,
         e.raw_sha256, e.size_bytes, e.import_id, e.import_index, e.unread, e.labels,
         e.received_at, e.received_at
    from json_to_recordset($1::json) as e
         (organization_id uuid, id uuid, mailbox_id uuid, source text, queue_id text, mail_from text,
          recipient text, client_address text, helo text, protocol text, tls jsonb, raw_from integer,
          raw_sha256 text, size_bytes bigint, import_id uuid, import_index integer, unread boolean,
          labels text[], received_at timestamptz)`;

/** The statement that makes entries durable, whatever tenants they belong to; needs the worker setting for more than one. */
export function spoolInsert(entries: readonly SpoolEntry[]): PreparedStatement {
  let offset = 1;
  const rows = entries.map((entry) => {
    const from = entry.raw === null ? null : offset;
    offset += entry.raw?.byteLength ?? 0;
    return {
      organization_id: entry.organizationId,
      id: entry.id,
      mailbox_id: entry.mailboxId,
      source: entry.source,
      queue_id: entry.queueId,
      mail_from: entry.mailFrom,
      recipient: entry.recipient,
      client_address: entry.clientAddress,
      helo: entry.helo,
      protocol: entry.protocol,
      tls: entry.tls,
      raw_from: from,
      raw_sha256: entry.rawSha256,
      size_bytes: entry.sizeBytes,
      import_id: entry.importId,
      import_index: entry.importIndex,
      unread: entry.unread,
      labels: entry.labels,
      received_at: entry.receivedAt.toISOString(),
    };
  });
  const bytes = Buffer.concat(entries.flatMap((entry) => (entry.raw === null ? [] : [entry.raw])));
  return { name: 'spool_insert', text: INSERT, values: [JSON.stringify(rows, storable), bytes] };
}

interface SpoolRow {
  organization_id: string;
  id: string;
  mailbox_id: string;
  source: SpoolEntry['source'];
  queue_id: string | null;
  mail_from: string;
  recipient: string;
  client_address: string | null;
  helo: string | null;
  protocol: string | null;
  tls: SpoolEntry['tls'];
  raw: Buffer | null;
  raw_sha256: string | null;
  size_bytes: number;
  import_id: string | null;
  import_index: number | null;
  unread: boolean;
  labels: string[];
  attempts: number;
  received_at: string;
}

/**
 * Claims up to `limit` due rows, live mail before imports, until `leaseSeconds` from now; other
 * workers pass over them. A row whose worker dies is due again when its lease is over, or when that
 * worker starts again: {@link takeBackSpoolEntries}.
 */
export async function claimSpoolEntries(
  tx: SqlExecutor,
  owner: string,
  limit: number,
  leaseSeconds: number,
): Promise<ClaimedEntry[]> {
  const { rows } = await tx.query<SpoolRow>(
    `update inbound_spool s
        set attempts = attempts + 1, lease_owner = $3, next_attempt_at = now() + make_interval(secs => $2)
       from (select organization_id, id
               from inbound_spool
              where next_attempt_at <= now()
              order by priority, next_attempt_at
              limit $1
                for update skip locked) due
      where s.organization_id = due.organization_id and s.id = due.id
  returning s.organization_id, s.id, s.mailbox_id, s.source, s.queue_id, s.mail_from, s.recipient,
            s.client_address, s.helo, s.protocol, s.tls, s.raw, s.raw_sha256, s.size_bytes, s.import_id,
            s.import_index, s.unread, s.labels, s.attempts, s.received_at`,
    [limit, leaseSeconds, owner],
  );
  return rows.map(toEntry).sort(byArrival);
}

/**
 * Removes rows in the transaction that stores their messages, so that neither can happen without the
 * other. @returns the ids that were still there: another worker may have taken over a lease that ran out
 */
export async function takeSpoolEntries(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    'delete from inbound_spool where organization_id = $1 and id = any($2::uuid[]) returning id',
    [organizationId, ids],
  );
  return new Set(rows.map((row) => row.id));
}

/** Makes a row that failed due again after `delaySeconds`. */
export async function deferSpoolEntry(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  delaySeconds: number,
  error: string,
): Promise<void> {
  await tx.query(
    `update inbound_spool
        set lease_owner = null, next_attempt_at = now() + make_interval(secs => $3), last_error = $4
      where organization_id = $1 and id = $2`,
    [organizationId, id, delaySeconds, error.slice(0, 1000)],
  );
}

/** Makes due what an earlier process of this name had claimed. It counts as tried: it may be why that process died. */
export async function takeBackSpoolEntries(tx: SqlExecutor, owner: string): Promise<number> {
  const { rowCount } = await tx.query(
    'update inbound_spool set lease_owner = null, next_attempt_at = now() where lease_owner = $1',
    [owner],
  );
  return rowCount;
}

/** Gives claimed rows back untried: the process is stopping. */
export async function releaseSpoolEntries(
  tx: SqlExecutor,
  entries: readonly ClaimedEntry[],
): Promise<void> {
  await tx.query(
    `update inbound_spool
        set lease_owner = null, attempts = attempts - 1, next_attempt_at = now()
      where (organization_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
    [entries.map((entry) => entry.organizationId), entries.map((entry) => entry.id)],
  );
}

function toEntry(row: SpoolRow): ClaimedEntry {
  return {
    organizationId: row.organization_id,
    id: row.id,
    mailboxId: row.mailbox_id,
    source: row.source,
    queueId: row.queue_id,
    mailFrom: row.mail_from,
    recipient: row.recipient,
    clientAddress: row.client_address,
    helo: row.helo,
    protocol: row.protocol,
    tls: row.tls,
    raw: row.raw,
    rawSha256: row.raw_sha256,
    sizeBytes: row.size_bytes,
    receivedAt: new Date(row.received_at),
    importId: row.import_id,
    importIndex: row.import_index,
    unread: row.unread,
    labels: row.labels,
    attempts: row.attempts,
  };
}

function byArrival(a: ClaimedEntry, b: ClaimedEntry): number {
  return a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1);
}
