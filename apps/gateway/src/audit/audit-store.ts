import type { PreparedStatement, SqlExecutor } from '@dak/platform/postgres';
import { auditHash, type AuditEntry } from './audit-entry';

const LOCK_HEAD = `
  insert into audit_head (organization_id)
       values ($1::uuid)
  on conflict (organization_id) do update set entries = audit_head.entries
    returning entries::int as entries, hash`;

const APPEND = `
  with head as (
    update audit_head
       set entries = $2::bigint,
           hash    = $15
     where organization_id = $1::uuid
  )
  insert into audit_entry (organization_id, sequence, id, at, actor_type, actor_id, actor_name,
                           action, target_type, target_id, outcome, request_id, details,
                           previous_hash, hash)
       values ($1::uuid, $2::bigint, $3::uuid, $4::timestamptz, $5, $6, $7,
               $8, $9, $10, $11, $12, $13::jsonb,
               $14, $15)
    returning sequence::int as sequence`;

/**
 * Adds an entry to its organization's chain, in the transaction of the change that it tells of. The
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
  await executor.query(APPEND, [
    ...[full.organizationId, full.sequence, full.id, full.at],
    ...[full.actor.type, full.actor.id, full.actor.name],
    ...[full.action, full.target.type, full.target.id, full.outcome, full.requestId],
    ...[JSON.stringify(full.details), full.previousHash, auditHash(full)],
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

interface StoredRow {
  sequence: number;
  id: string;
  at: string;
  actorType: string;
  actorId: string | null;
  actorName: string;
  action: string;
  targetType: string;
  targetId: string | null;
  outcome: string;
  requestId: string;
  details: Record<string, unknown>;
  previousHash: string;
  hash: string;
}

const COLUMNS = `
         sequence, id, at, action, outcome, details, hash,
         actor_type    as "actorType",
         actor_id      as "actorId",
         actor_name    as "actorName",
         target_type   as "targetType",
         target_id     as "targetId",
         request_id    as "requestId",
         previous_hash as "previousHash"`;

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
  select ${COLUMNS}
    from audit_entry
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
  select ${COLUMNS}
    from audit_entry
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

export function toAuditRow(organizationId: string, record: Record<string, unknown>): AuditRow {
  const row = record as unknown as StoredRow;
  return {
    organizationId,
    sequence: row.sequence,
    id: row.id,
    at: row.at,
    actor: {
      type: row.actorType as AuditRow['actor']['type'],
      id: row.actorId,
      name: row.actorName,
    },
    action: row.action,
    target: { type: row.targetType, id: row.targetId },
    outcome: row.outcome as AuditRow['outcome'],
    requestId: row.requestId,
    details: row.details,
    previousHash: row.previousHash,
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
