import type {
  PutOperationsRequest,
  PutOrganizationRequest,
  PutUserRequest,
} from '@dak/contracts/webhook';
import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';

const SAVE_ORGANIZATION = `
  insert into organization as o (organization_id, name, status, version, updated_at)
  values ($1, $2, $3, $4, now())
  on conflict (organization_id)
  do update set name = excluded.name, status = excluded.status, version = excluded.version,
                updated_at = excluded.updated_at
        where o.version < excluded.version`;

const SAVE_PERSON = `
  insert into person as p (organization_id, user_id, role, active, department_ids, version, updated_at)
  values ($1, $2, $3, $4, $5, $6, now())
  on conflict (organization_id, user_id)
  do update set role = excluded.role, active = excluded.active, department_ids = excluded.department_ids,
                version = excluded.version, updated_at = excluded.updated_at
        where p.version < excluded.version`;

const SAVE_CALLER = `
  insert into person (organization_id, user_id, role, active, department_ids, version, updated_at)
  values ($1, $2, $3, true, $4, 0, now())
  on conflict do nothing`;

const SAVE_OPERATIONS = `
  insert into operations as o (webhooks, version)
  values ($1, $2)
  on conflict (id)
  do update set webhooks = excluded.webhooks, version = excluded.version, updated_at = now()
          where o.version < excluded.version`;

/** What of the whole deployment is stopped; an older announcement than the known one changes nothing. */
export async function saveOperations(
  worker: SqlExecutor,
  { webhooks, version }: PutOperationsRequest,
): Promise<void> {
  await worker.query(SAVE_OPERATIONS, [webhooks, version]);
}

/** An older announcement than the known one changes nothing. */
export async function saveOrganization(
  tx: SqlExecutor,
  { organizationId, name, status, version }: PutOrganizationRequest,
): Promise<void> {
  await tx.query(SAVE_ORGANIZATION, [organizationId, name, status, version]);
}

/** @returns whether it was news: an older announcement than the known one changes nothing */
export async function savePerson(tx: SqlExecutor, user: PutUserRequest): Promise<boolean> {
  const { rowCount } = await tx.query(SAVE_PERSON, [
    user.organizationId,
    user.userId,
    user.role,
    user.active,
    user.departmentIds,
    user.version,
  ]);
  return rowCount > 0;
}

/** Who calls is known to exist; what the gateway announces about them later replaces it. */
export async function saveCaller(tx: SqlExecutor, principal: Principal): Promise<void> {
  const { organizationId, userId, role, departmentIds } = principal;
  await tx.query(SAVE_CALLER, [organizationId, userId, role, [...departmentIds]]);
}
