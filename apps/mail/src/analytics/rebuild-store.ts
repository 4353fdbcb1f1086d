import type { Database } from '@dak/platform/postgres';

/** Every organization that has a model. */
export async function organizationsWithModel(database: Database): Promise<string[]> {
  return database.asWorker(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'select organization_id as id from analytics_model order by organization_id',
    );
    return rows.map(({ id }) => id);
  });
}

/** Entries that a rebuild of all organizations reads. */
export async function countJournal(database: Database): Promise<number> {
  return database.asWorker(async (tx) => {
    const { rows } = await tx.query<{ count: number }>('select count(*) from analytics_journal');
    return rows[0]!.count;
  });
}

const DELETE_CHUNK = 20_000;

/** Leftovers of an interrupted rebuild, or the former model; single-statement readers do not miss it. */
export async function removeOthers(database: Database, organizationId: string): Promise<void> {
  for (const table of ['analytics_fact', 'analytics_conversation', 'analytics_person']) {
    for (;;) {
      const removed = await database.asWorker(async (tx) => {
        const { rowCount } = await tx.query(
          `delete from ${table}
            where ctid = any(array(
                    select t.ctid
                      from ${table} t
                      join analytics_model m using (organization_id)
                     where t.organization_id = $1 and t.generation <> m.generation
                     limit ${DELETE_CHUNK}))`,
          [organizationId],
        );
        return rowCount;
      });
      if (removed < DELETE_CHUNK) break;
    }
  }
}
