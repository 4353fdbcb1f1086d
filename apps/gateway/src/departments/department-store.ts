import type { GatewayTransaction } from '../database/gateway-store';

/** @returns its version; null when it does not exist */
export async function lockDepartment(
  tx: GatewayTransaction,
  organizationId: string,
  id: string,
): Promise<number | null> {
  const { rows } = await tx.query<{ version: number }>(
    `select version from department where organization_id = $1::uuid and id = $2::uuid for no key update`,
    [organizationId, id],
  );
  return rows[0]?.version ?? null;
}

/**
 * Current and future members, in order of id: each change of a membership also changes the user, and
 * two departments with the same people would wait for each other.
 */
export async function lockUsers(
  tx: GatewayTransaction,
  organizationId: string,
  departmentId: string,
  wanted: readonly string[],
): Promise<void> {
  await tx.query(
    `select id
       from user_account u
      where organization_id = $1::uuid
        and (id = any($3::uuid[])
             or exists (select from department_member m
                         where m.organization_id = u.organization_id and m.department_id = $2::uuid
                           and m.user_id = u.id))
      order by id
        for no key update`,
    [organizationId, departmentId, [...wanted]],
  );
}
