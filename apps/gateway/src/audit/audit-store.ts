import { tableColumns, type PreparedStatement, type SqlExecutor } from '@dak/platform/postgres';
import { auditHash, type AuditEntry } from './audit-entry';

const LOCK_HEAD = `
  insert into audit_head (organization_id)
       values ($1::uuid)
  on conflict (organization_id) do update set entries = audit_head.entries
    returning entries::int as entries, hash`;

/** An entry besides its organization. */
interface StoredEntry {
  sequence: number;
  id: string;
  at: string;
  actor_type: AuditEntry['actor']['type'];
  actor_id: string | null;
  actor_name: string;
  action: string;
  target_type: string;
  target_id: string | null;
  outcome: AuditEntry['outcome'];
  request_id: string;
  details: Readonly<Record<string, unknown>>;
  previous_hash: string;
  hash: string;
}

const ENTRY = tableColumns<StoredEntry>('audit_entry', {
  sequence: 'fixed',
  id: 'fixed',
  at: 'fixed',
  actor_type: 'fixed',
  actor_id: 'fixed',
  actor_name: 'fixed',
  action: 'fixed',
  target_type: 'fixed',
  target_id: 'fixed',
  outcome: 'fixed',
  request_id: 'fixed',
  details: 'fixed',
  previous_hash: 'fixed',
  hash: 'fixed',
});

const APPEND = `
  with head as (
    update audit_head
       set entries = $3::bigint,
           hash    = $4
     where organization_id = $2::uuid
  )
  ${ENTRY.insert}`;

/**
 * Adds an entry to its organization's chain, in the transaction of the change it describes. The
 * row of the head is locked until then, so append last.
 */
export async function appendAudit(
  executor: SqlExecutor,
  entry: Omit<AuditEntry, 'sequence' | 'previousHash'>,
): Promise<void> {
  const { rows } = await executor.query<{ entries: number; hash: string }>(LOCK_HEAD, [
    entry.organizationId,
  ]);
  const head = rows[0]!;
  const full: AuditEntry = { ...entry, sequence: head.entries + 1, previousHash: head.hash };
  const stored = { organization_id: full.organizationId, ...toStored(full, auditHash(full)) };
  await executor.query(APPEND, [
    JSON.stringify([stored]),
    full.organizationId,
    full.sequence,
    stored.hash,
  ]);
}

/** Asked under the lock that {@link appendAudit} takes, or before it by the only writer of these ids. */
export async function hasAuditEntry(
  executor: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await executor.query(
    'select 1 from audit_entry where organization_id = $1 and id = $2',
    [organizationId, id],
  );
  return rowCount > 0;
}

export async function hasOrganization(
  executor: SqlExecutor,
  organizationId: string,
): Promise<boolean> {
  const { rowCount } = await executor.query('select 1 from organization where id = $1', [
    organizationId,
  ]);
  return rowCount > 0;
}

export interface AuditRow extends AuditEntry {
  hash: string;
}

export interface AuditFilter {
  action: string | null;
  actor: string | null;
  target: string | null;
  outcome: string | null;
  /** RFC 3339; inclusive. */
  from: string | null;
  /** RFC 3339; exclusive. */
  to: string | null;
  /** Only entries of these actors; null = all. */
  visibleActors: readonly string[] | null;
}

const MATCHES = `
       organization_id = $1
   and ($2::text is null or action = $2)
   and ($3::text is null or actor_id = $3)
   and ($4::text is null or target_id = $4)
   and ($5::text is null or outcome = $5)
   and ($6::timestamptz is null or at >= $6)
   and ($7::timestamptz is null or at < $7)
   and ($8::text[] is null or actor_id = any ($8))`;

const PAGE = `
  select ${ENTRY.list('e')}
    from audit_entry e
   where ${MATCHES}
     and ($9::bigint is null or sequence < $9)
   order by sequence desc
   limit $10 offset $11`;

const COUNT = `
  select count(*) as total
    from (select 1 from audit_entry where ${MATCHES} limit $9) as counted`;

/** Newest first. */
export function pageStatement(
  organizationId: string,
  filter: AuditFilter,
  before: number | null,
  limit: number,
  offset: number,
): PreparedStatement {
  const values = [...filterValues(organizationId, filter), before, limit, offset];
  return { name: 'audit_page', text: PAGE, values };
}

export function countStatement(
  organizationId: string,
  filter: AuditFilter,
  limit: number,
): PreparedStatement {
  const values = [...filterValues(organizationId, filter), limit];
  return { name: 'audit_count', text: COUNT, values };
}

const CHAIN = `
  select ${ENTRY.list('e')}
    from audit_entry e
   where organization_id = $1
     and sequence > $2
   order by sequence
   limit $3`;

export function chainStatement(
  organizationId: string,
  after: number,
  limit: number,
): PreparedStatement {
  return { name: 'audit_chain', text: CHAIN, values: [organizationId, after, limit] };
}

export function headStatement(organizationId: string): PreparedStatement {
  return {
    name: 'audit_head',
    text: 'select entries, hash from audit_head where organization_id = $1',
    values: [organizationId],
  };
}

function toStored(entry: AuditEntry, hash: string): StoredEntry {
  return {
    sequence: entry.sequence,
    id: entry.id,
    at: entry.at,
    actor_type: entry.actor.type,
    actor_id: entry.actor.id,
    actor_name: entry.actor.name,
    action: entry.action,
    target_type: entry.target.type,
    target_id: entry.target.id,
    outcome: entry.outcome,
    request_id: entry.requestId,
    details: entry.details,
    previous_hash: entry.previousHash,
    hash,
  };
}

export function toAuditRow(organizationId: string, record: Record<string, unknown>): AuditRow {
  const row = record as unknown as StoredEntry;
  return {
    organizationId,
    sequence: row.sequence,
    id: row.id,
    at: row.at,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    outcome: row.outcome,
    requestId: row.request_id,
    details: row.details,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

function filterValues(organizationId: string, filter: AuditFilter): unknown[] {
  return [
    organizationId,
    filter.action,
    filter.actor,
    filter.target,
    filter.outcome,
    filter.from,
    filter.to,
    filter.visibleActors,
  ];
}
