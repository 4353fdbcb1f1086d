import type { SqlExecutor } from '@dak/platform/postgres';
import { DOMAIN, DOMAIN_COLUMNS, type DomainRow } from './domain-row';

/** Ordered by name. */
export async function selectDomains(
  tx: SqlExecutor,
  organizationId: string,
  window: { limit: number; offset: number; after: string | null },
): Promise<{ rows: DomainRow[]; total: number }> {
  const { rows: counts } = await tx.query<{ total: number }>(
    'select count(*) as total from domain where organization_id = $1',
    [organizationId],
  );
  const { rows } = await tx.query<DomainRow>(
    `select ${DOMAIN_COLUMNS}
       from domain d
      where d.organization_id = $1 and ($2::text is null or d.name > $2)
      order by d.name
      limit $3 offset $4`,
    [organizationId, window.after, window.limit, window.offset],
  );
  return { rows, total: counts[0]?.total ?? 0 };
}

export async function selectDomain(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<DomainRow | null> {
  const { rows } = await tx.query<DomainRow>(
    `select ${DOMAIN_COLUMNS} from domain d where d.organization_id = $1 and d.id = $2`,
    [organizationId, id],
  );
  return rows[0] ?? null;
}

/** Nobody else changes it, or makes a mailbox in it, before the transaction ends. */
export async function lockDomain(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<DomainRow | null> {
  const { rows } = await tx.query<DomainRow>(
    `select ${DOMAIN_COLUMNS} from domain d where d.organization_id = $1 and d.id = $2 for update`,
    [organizationId, id],
  );
  return rows[0] ?? null;
}

/** All domains of the organization, one change of them at a time. */
export async function lockDomains(tx: SqlExecutor, organizationId: string): Promise<DomainRow[]> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('domains:' || $1, 0))::text`, [
    organizationId,
  ]);
  const { rows } = await tx.query<DomainRow>(
    `select ${DOMAIN_COLUMNS} from domain d where d.organization_id = $1 order by d.name for update`,
    [organizationId],
  );
  return rows;
}

/**
 * The verified domain of that name, which stays the organization's until the transaction ends; null
 * when it is none.
 */
export async function holdOwnedDomain(
  tx: SqlExecutor,
  organizationId: string,
  name: string,
): Promise<DomainRow | null> {
  const { rows } = await tx.query<DomainRow>(
    `select ${DOMAIN_COLUMNS}
       from domain d
      where d.organization_id = $1 and d.name = $2 and d.status = 'verified'
        for share`,
    [organizationId, name],
  );
  return rows[0] ?? null;
}

/** The verified domains, if there are at most two. */
export async function selectOwnedNames(tx: SqlExecutor, organizationId: string): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select name from domain where organization_id = $1 and status = 'verified' order by name limit 2`,
    [organizationId],
  );
  return rows.map(({ name }) => name);
}

/** @throws a unique violation of `domain_name`, or of `domain_owner` when it is verified elsewhere */
export async function insertDomain(
  tx: SqlExecutor,
  organizationId: string,
  row: DomainRow,
): Promise<void> {
  await insertDomains(tx, organizationId, [row], '');
}

/** Skips domains that already have an owner. @returns the new names */
export async function insertFreeDomains(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly DomainRow[],
): Promise<string[]> {
  return insertDomains(tx, organizationId, rows, 'on conflict do nothing');
}

async function insertDomains(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly DomainRow[],
  onConflict: string,
): Promise<string[]> {
  const { rows: made } = await tx.query<{ name: string }>(
    `${DOMAIN.insert} order by name ${onConflict} returning name`,
    [toJson(organizationId, rows)],
  );
  return made.map(({ name }) => name);
}

/** @throws a unique violation of `domain_owner` when it becomes verified and is so elsewhere */
export async function updateDomain(
  tx: SqlExecutor,
  organizationId: string,
  row: DomainRow,
): Promise<void> {
  await tx.query(
    `update domain d
        set ${DOMAIN.assignments('r')}
       from json_populate_recordset(null::domain, $2) r
      where d.organization_id = $1 and d.id = r.id`,
    [organizationId, toJson(organizationId, [row])],
  );
}

function toJson(organizationId: string, rows: readonly DomainRow[]): string {
  return JSON.stringify(rows.map((row) => ({ ...row, organization_id: organizationId })));
}

/** Its mailboxes stay, without a domain. */
export async function removeDomain(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<void> {
  await tx.query(
    'update mailbox set domain_id = null where organization_id = $1 and domain_id = $2',
    [organizationId, id],
  );
  await tx.query('delete from domain where organization_id = $1 and id = $2', [organizationId, id]);
}

/** Mailboxes that were there before the domain was the organization's now show it. */
export async function nameDomainOfMailboxes(
  tx: SqlExecutor,
  organizationId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx.query(
    `update mailbox m
        set domain_id = d.id
       from domain d
      where m.organization_id = $1 and d.organization_id = $1 and d.name = any($2::text[])
        and split_part(m.address, '@', 2) = d.name and m.domain_id is distinct from d.id`,
    [organizationId, names],
  );
}

export async function countLiveMailboxes(
  tx: SqlExecutor,
  organizationId: string,
  name: string,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) as count
       from mailbox
      where organization_id = $1 and split_part(address, '@', 2) = $2 and deleted_at is null`,
    [organizationId, name],
  );
  return rows[0]?.count ?? 0;
}

export interface DomainOwner {
  organization_id: string;
  id: string;
  name: string;
  /** The gateway has not spoken of the organization, it has no mailbox, and is older than a creation takes. */
  is_abandoned: boolean;
}

/** Who owns these domains, asked across organizations: in a transaction of a worker. */
export async function selectOwners(
  tx: SqlExecutor,
  names: readonly string[],
): Promise<DomainOwner[]> {
  const { rows } = await tx.query<DomainOwner>(
    `select d.organization_id, d.id, d.name,
            d.is_granted and o.organization_id is null and d.created_at < now() - interval '10 minutes'
              and not exists (select from mailbox m where m.organization_id = d.organization_id) as is_abandoned
       from domain d
       left join organization o on o.organization_id = d.organization_id
      where d.name = any($1::text[]) and d.status = 'verified'
      order by d.name`,
    [names],
  );
  return rows;
}
