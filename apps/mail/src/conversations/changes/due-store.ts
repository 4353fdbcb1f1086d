import type { Database } from '@dak/platform/postgres';

export interface Due {
  organization_id: string;
  id: string;
}

/** Across tenants: which rows are due. They are changed in their own tenants, where nothing else can be touched. */
export function selectSnoozedUntil(database: Database, at: string, limit: number): Promise<Due[]> {
  return selectDue(
    database,
    `select organization_id, id from conversation
      where status = 'snoozed' and snoozed_until <= $1 order by snoozed_until limit ${limit}`,
    at,
  );
}

/** As {@link selectSnoozedUntil}. */
export function selectResolvedBefore(
  database: Database,
  at: string,
  limit: number,
): Promise<Due[]> {
  return selectDue(
    database,
    `select organization_id, id from conversation
      where status = 'resolved' and resolved_at < $1 order by resolved_at limit ${limit}`,
    at,
  );
}

async function selectDue(database: Database, text: string, at: string): Promise<Due[]> {
  return database.asWorker(async (tx) => (await tx.query<Due>(text, [at])).rows);
}
