import type { SqlExecutor } from '@dak/platform/postgres';

/** Ids of conversations with the label. */
export async function selectLabeled(
  tx: SqlExecutor,
  organizationId: string,
  name: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from conversation where organization_id = $1 and $2 = any(labels) limit ${limit}`,
    [organizationId, name],
  );
  return rows.map(({ id }) => id);
}
