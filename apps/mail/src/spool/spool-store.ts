import type { PreparedStatement, SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../db/sql-parameters';
import { clientOf } from './flow-client';
import { flowOf, turnKey } from './flow';
import type { SpoolEntry } from './spool-entry';

/** A claimed row: the entry and how often it has been tried, this time included. */
export interface ClaimedEntry extends SpoolEntry {
  readonly attempts: number;
  /** See `flowOf`. */
  readonly flow: string;
}

/**
 * What arrived is due by the database's clock, whatever ours says. All bytes travel in one binary parameter and are cut apart by the server: an array of bytea would
 * go as hexadecimal text, twice the size, and cost both sides a second of parsing per 10 000 rows.
 */
const INSERT = `
  insert into inbound_spool
         (organization_id, id, mailbox_id, source, priority, queue_id, mail_from, recipient,
          client_address, helo, protocol, tls, raw, raw_sha256, size_bytes, import_id, import_index,
          unread, labels, next_attempt_at, received_at, flow, client_key,
          flow_key, traceparent)
  select e.organization_id, e.id, e.mailbox_id, e.source, case e.source when 'import' then 1 else 0 end,
         e.queue_id, e.mail_from, e.recipient, e.client_address, e.helo, e.protocol, e.tls,
         case when e.raw_from is not null then substring($2::bytea from e.raw_from for e.size_bytes::integer) end,
         e.raw_sha256, e.size_bytes, e.import_id, e.import_index, e.unread, e.labels,
         least(e.received_at, now()), e.received_at, e.flow, e.client_key,
         e.flow_key, e.traceparent
    from json_to_recordset($1::json) as e
         (organization_id uuid, id uuid, mailbox_id uuid, source text, queue_id text, mail_from text,
          recipient text, client_address text, helo text, protocol text, tls jsonb, raw_from integer,
          raw_sha256 text, size_bytes bigint, import_id uuid, import_index integer, unread boolean,
          labels text[], received_at timestamptz, flow text, client_key uuid, flow_key uuid,
          traceparent text)`;

/** The statement that makes entries durable, whatever tenants they belong to; needs the worker setting for more than one. */
export function spoolInsert(entries: readonly SpoolEntry[]): PreparedStatement {
  let offset = 1;
  const rows = entries.map((entry) => {
    const from = entry.raw === null ? null : offset;
    offset += entry.raw?.byteLength ?? 0;
    const flow = flowOf(entry);
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
      flow,
      client_key: turnKey(clientOf(flow)),
      flow_key: turnKey(flow),
      traceparent: entry.traceparent,
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
  flow: string;
  traceparent: string | null;
}

/** Live mail before imports. */
export type SpoolPriority = 0 | 1;

export interface SpoolClaim {
  readonly owner: string;
  readonly priority: SpoolPriority;
  /** At most {@link MAX_ENTRIES}. */
  readonly limit: number;
  /** Octets of raw mail; one message is claimed whatever its size. */
  readonly maxBytes: number;
  readonly leaseSeconds: number;
  /** The organization that had a turn last; null at the beginning. */
  readonly after: string | null;
  /** By organization the key of the client that had a turn last, by {@link placeOf} that of its flow. */
  readonly lastTurns: ReadonlyMap<string, string>;
  /** Clients whose mail is left for later. */
  readonly without: readonly string[];
}

/** Organizations that one claim considers; each is stored in its own transaction. */
const MAX_ORGANIZATIONS = 8;
/** Rows of one claim; tells the planner that they are few, or it would read the whole spool to find them. */
const MAX_ENTRIES = 1_000;
const NOTHING = '00000000-0000-0000-0000-000000000000';

/** One client of an organization in {@link SpoolClaim.lastTurns}. */
export function placeOf(organizationId: string, clientKey: string): string {
  return `${organizationId} ${clientKey}`;
}

/**
 * The next one of a ring with due mail: the first after a value, else the first of all. The index is descended
 * once per step, so that a claim costs the same whatever one sender has piled up; `offset 0`, else the planner
 * would search once for each use of the result.
 */
const ring = (column: string, where: string, after: string) => {
  const due = `from inbound_spool where priority = $4 and next_attempt_at <= now() and ${where}`;
  return `
  select coalesce((select ${column} ${due} and ${column} > ${after} order by ${column} limit 1),
                  (select ${column} ${due} order by ${column} limit 1)) as next
  offset 0`;
};
const organizationRing = (after: string) => ring('organization_id', 'true', after);
const clientRing = (of: string, after: string) =>
  ring('client_key', `organization_id = ${of}.organization_id`, after);
const flowRing = (of: string, after: string) =>
  ring(
    'flow_key',
    `organization_id = ${of}.organization_id and client_key = ${of}.client_key`,
    after,
  );

const lastTurn = (place: string) => `coalesce(($6::jsonb ->> ${place})::uuid, '${NOTHING}')`;

/**
 * Organizations share a claim evenly, clients the share of their organization, flows that of their client;
 * `step` is the place in a ring, `turn` how many of the same have been before.
 */
const CLAIM = `
  with recursive organizations as (
         select next as organization_id, next as first, 1 as step
           from (${organizationRing('$5::uuid')}) begin
          where next is not null
          union all
         select r.next, o.first, o.step + 1
           from organizations o cross join lateral (${organizationRing('o.organization_id')}) r
          where o.step < ${MAX_ORGANIZATIONS} and r.next is not null and r.next <> o.first),
       shares as (
         select organization_id, step, ($1 - 1) / count(*) over () + 1 as share from organizations),
       clients as (
         select o.*, r.next as client_key, r.next as first_client, 1 as client_step
           from shares o
           cross join lateral (${clientRing('o', lastTurn('o.organization_id::text'))}) r
          where r.next is not null
          union all
         select c.organization_id, c.step, c.share, r.next, c.first_client, c.client_step + 1
           from clients c
           cross join lateral (${clientRing('c', 'c.client_key')}) r
          where c.client_step < c.share + cardinality($7::uuid[])
            and r.next is not null and r.next <> c.first_client),
       client_shares as (
         select organization_id, step, client_key, client_step,
                (share - 1) / count(*) over (partition by organization_id) + 1 as share
           from clients
          where client_key <> all($7::uuid[])),
       flows as (
         select c.*, r.next as flow_key, r.next as first_flow, 1 as flow_step
           from client_shares c
           cross join lateral (${flowRing('c', lastTurn(`(c.organization_id || ' ' || c.client_key)`))}) r
          where r.next is not null
          union all
         select f.organization_id, f.step, f.client_key, f.client_step, f.share, r.next, f.first_flow, f.flow_step + 1
           from flows f
           cross join lateral (${flowRing('f', 'f.flow_key')}) r
          where f.flow_step < f.share and r.next is not null and r.next <> f.first_flow),
       flow_shares as (
         select *, (share - 1) / count(*) over (partition by organization_id, client_key) + 1 as most from flows),
       due as (
         select f.organization_id, f.step, f.client_key, f.client_step, f.flow_step, s.id, s.size_bytes,
                row_number() over (partition by f.organization_id, f.client_key, f.flow_key
                                       order by s.next_attempt_at) as turn
           from flow_shares f
           cross join lateral (
                 select id, size_bytes, next_attempt_at
                   from inbound_spool
                  where priority = $4 and organization_id = f.organization_id and client_key = f.client_key
                    and flow_key = f.flow_key and next_attempt_at <= now()
                  order by next_attempt_at
                  limit f.most
                    for update skip locked) s),
       due_of_clients as (
         select *, row_number() over (partition by organization_id, client_key
                                          order by turn, flow_step) as client_turn
           from due),
       due_of_organizations as (
         select *, row_number() over (partition by organization_id
                                          order by client_turn, client_step) as organization_turn
           from due_of_clients),
       fitting as (
         select organization_id, id, row_number() over w as place, sum(size_bytes) over w as bytes
           from due_of_organizations window w as (order by organization_turn, step)
          limit ${MAX_ENTRIES})
  update inbound_spool s
     set attempts = attempts + 1, lease_owner = $3, next_attempt_at = now() + make_interval(secs => $2)
    from fitting f
   where s.organization_id = f.organization_id and s.id = f.id and (f.place = 1 or f.bytes <= $8)
     and f.place <= $1
  returning s.organization_id, s.id, s.mailbox_id, s.source, s.queue_id, s.mail_from, s.recipient,
            s.client_address, s.helo, s.protocol, s.tls, s.raw, s.raw_sha256, s.size_bytes, s.import_id,
            s.import_index, s.unread, s.labels, s.attempts, s.received_at, s.flow, s.traceparent, f.place`;

/**
 * Claims due rows until `leaseSeconds` from now; other workers pass over them. Organizations, within one
 * clients, and within these flows have turns. A row whose worker dies is due again when its lease is over,
 * or when that worker starts again: {@link takeBackSpoolEntries}.
 * @returns in the order in which they are to be read
 */
export async function claimSpoolEntries(
  tx: SqlExecutor,
  claim: SpoolClaim,
): Promise<ClaimedEntry[]> {
  const { rows } = await tx.query<SpoolRow & { place: number }>(CLAIM, [
    claim.limit,
    claim.leaseSeconds,
    claim.owner,
    claim.priority,
    claim.after ?? NOTHING,
    JSON.stringify(Object.fromEntries(claim.lastTurns)),
    claim.without.map(turnKey),
    claim.maxBytes,
  ]);
  return rows.sort((a, b) => a.place - b.place).map(toEntry);
}

/** Keeps claimed rows from being taken over for so much longer. */
export async function renewSpoolLeases(
  tx: SqlExecutor,
  owner: string,
  entries: readonly ClaimedEntry[],
  leaseSeconds: number,
): Promise<void> {
  await tx.query(
    `update inbound_spool
        set next_attempt_at = now() + make_interval(secs => $4)
      where (organization_id, id) in (select * from unnest($1::uuid[], $2::uuid[])) and lease_owner = $3`,
    [
      entries.map((entry) => entry.organizationId),
      entries.map((entry) => entry.id),
      owner,
      leaseSeconds,
    ],
  );
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

/** Releases the claims of an earlier process of this name. They count as tried, as they may be why it died. */
export async function takeBackSpoolEntries(tx: SqlExecutor, owner: string): Promise<number> {
  const { rowCount } = await tx.query(
    'update inbound_spool set lease_owner = null, next_attempt_at = now() where lease_owner = $1',
    [owner],
  );
  return rowCount;
}

/** Releases claimed rows as untried, unless another process took them over. */
export async function releaseSpoolEntries(
  tx: SqlExecutor,
  owner: string,
  entries: readonly ClaimedEntry[],
): Promise<void> {
  await tx.query(
    `update inbound_spool
        set lease_owner = null, attempts = attempts - 1, next_attempt_at = now()
      where (organization_id, id) in (select * from unnest($1::uuid[], $2::uuid[])) and lease_owner = $3`,
    [entries.map((entry) => entry.organizationId), entries.map((entry) => entry.id), owner],
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
    flow: row.flow,
    traceparent: row.traceparent,
  };
}
