import type { Database } from '@dak/platform/postgres';

export async function selectRetentions(
  database: Database,
): Promise<{ id: string; retentionDays: number | null }[]> {
  const { rows } = await database.asWorker((tx) =>
    tx.query<{ id: string; retentionDays: number | null }>(
      `select id, retention_days as "retentionDays" from organization order by id`,
    ),
  );
  return rows;
}
