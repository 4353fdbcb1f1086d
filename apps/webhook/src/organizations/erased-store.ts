import type { SqlExecutor } from '@dak/platform/postgres';

/** What is told of the organization from now on comes too late. */
export async function noteErased(tx: SqlExecutor, organizationId: string): Promise<void> {
  await tx.query('insert into erased_organization (id) values ($1) on conflict do nothing', [
    organizationId,
  ]);
}

export async function isErased(tx: SqlExecutor, organizationId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select from erased_organization where id = $1', [
    organizationId,
  ]);
  return rowCount > 0;
}
