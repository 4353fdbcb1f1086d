import type { Database } from './database';

/** Rows of one transaction. */
const BATCH = 1_000;
const FOREIGN_KEY_VIOLATION = '23503';

/** Tables that name the tenant, so that a new one is covered by having the column. */
const TABLES = `
  select c.relname as name,
         c.relkind = 'p' or exists (select from pg_constraint f
                                     where f.contype = 'f' and f.conrelid = c.oid and f.confrelid = c.oid) as "isWhole"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   order by c.relname`;

interface TenantTable {
  name: string;
  /** Goes in one statement: the place of a row is one only within a partition, and rows that refer to each other go together. */
  isWhole: boolean;
}

export interface EraseOptions {
  organizationId: string;
  /** Tables left to the caller. */
  except?: readonly string[];
  /** Milliseconds after which it returns; the next call goes on. */
  budgetMs: number;
}

/**
 * Deletes all rows of a tenant from every table with a column `organization_id`, in batches with a
 * transaction each. Tables that others still refer to come later.
 * @returns rows deleted by these statements, and whether there may be more
 */
export async function eraseTenant(
  database: Database,
  { organizationId, except = [], budgetMs }: EraseOptions,
): Promise<{ rows: number; more: boolean }> {
  const deadline = performance.now() + budgetMs;
  const tables = await tenantTables(database);
  const wanted = tables.filter(({ name }) => !except.includes(name));
  let rows = 0;
  // Triggers of one table may write to another one: only a round that finds nothing is the last.
  for (let found = true; found;) {
    found = false;
    for (const { name, isWhole } of wanted) {
      for (;;) {
        if (performance.now() > deadline) return { rows, more: true };
        const deleted = await deleteSome(database, organizationId, name, isWhole);
        if (deleted === 'referenced') found = true;
        if (deleted === 'referenced' || deleted === 0) break;
        rows += deleted;
        found = true;
      }
    }
  }
  return { rows, more: false };
}

export async function tenantTables(database: Database): Promise<TenantTable[]> {
  const { rows } = await database.asWorker((tx) => tx.query<TenantTable>(TABLES));
  return rows;
}

async function deleteSome(
  database: Database,
  organizationId: string,
  table: string,
  isWhole: boolean,
): Promise<number | 'referenced'> {
  const statement = isWhole
    ? `delete from "${table}" where organization_id = $1`
    : `delete from "${table}"
        where ctid = any(array(select ctid from "${table}" where organization_id = $1 limit ${BATCH}))`;
  try {
    // Rows of other tables go with these, as many as there are.
    const { rowCount } = await database.inTenant(
      organizationId,
      (tx) => tx.query(statement, [organizationId]),
      { statementTimeoutMs: 0 },
    );
    return rowCount;
  } catch (error) {
    if ((error as { code?: unknown }).code === FOREIGN_KEY_VIOLATION) return 'referenced';
    throw error;
  }
}
