import type { SqlExecutor } from '@dak/platform/postgres';
import type { GatewayTransaction } from '../database/gateway-store';

/** Ids of the active admins, locked so that two demotions at once cannot both leave "another" one. */
export async function lockAdmins(
  tx: GatewayTransaction,
  organizationId: string,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id
       from user_account
      where organization_id = $1::uuid
        and role <> 'user'
        and active
      order by id
        for update`,
    [organizationId],
  );
  return new Set(rows.map((row) => row.id));
}

const FIND_SUPERADMIN = `
  select organization_id as "organizationId", id, email
    from user_account
   where role = 'superadmin'
   order by created_at, id
   limit 1`;

interface SuperadminRow {
  organizationId: string;
  id: string;
  email: string;
}

/** The first one of the deployment. */
export async function selectSuperadmin(tx: SqlExecutor): Promise<SuperadminRow | null> {
  return (await tx.query<SuperadminRow>(FIND_SUPERADMIN)).rows[0] ?? null;
}
