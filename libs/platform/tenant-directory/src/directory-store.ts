import type { PutOrganizationRequest, PutUserRequest } from '@dak/contracts/tenant';
import type { Principal, Role } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { StopSwitch } from './tenant-directory-parts';

/** A person as last announced. */
export interface Person {
  readonly userId: string;
  readonly role: Role;
  readonly active: boolean;
  readonly departmentIds: readonly string[];
}

const KNOWN_VERSION = `
  select version
    from organization
   where organization_id = $1
     for update`;

const SAVE_ORGANIZATION = `
  insert into organization as o (organization_id, name, status, version, updated_at)
  values ($1, $2, $3, $4, now())
  on conflict (organization_id)
  do update set name       = excluded.name,
                status     = excluded.status,
                version    = excluded.version,
                updated_at = excluded.updated_at
          where o.version < excluded.version`;

const SAVE_PERSON = `
  insert into person as p (organization_id, user_id, role, active, department_ids, version, updated_at)
  values ($1, $2, $3, $4, $5, $6, now())
  on conflict (organization_id, user_id)
  do update set role           = excluded.role,
                active         = excluded.active,
                department_ids = excluded.department_ids,
                version        = excluded.version,
                updated_at     = excluded.updated_at
          where p.version < excluded.version`;

const SAVE_CALLER = `
  insert into person (organization_id, user_id, role, active, department_ids, version, updated_at)
  values ($1, $2, $3, true, $4, 0, now())
  on conflict do nothing`;

const FIND_PEOPLE = `
  select user_id as "userId", role, active, department_ids as "departmentIds"
    from person
   where organization_id = $1
     and user_id = any($2::uuid[])`;

/**
 * @returns `isNews` unless this version or a later one is known; `isFirst` when nothing was announced before, though
 *   the service may have a row of its own making
 */
export async function saveOrganization(
  tx: SqlExecutor,
  { organizationId, name, status, version }: PutOrganizationRequest,
): Promise<{ isFirst: boolean; isNews: boolean }> {
  const { rows } = await tx.query<{ version: number }>(KNOWN_VERSION, [organizationId]);
  const { rowCount } = await tx.query(SAVE_ORGANIZATION, [organizationId, name, status, version]);
  return { isFirst: rows.every((known) => known.version === 0), isNews: rowCount > 0 };
}

/** @returns false when this version or a later one is known */
export async function savePerson(tx: SqlExecutor, person: PutUserRequest): Promise<boolean> {
  const { rowCount } = await tx.query(SAVE_PERSON, [
    person.organizationId,
    person.userId,
    person.role,
    person.active,
    person.departmentIds,
    person.version,
  ]);
  return rowCount > 0;
}

/** The caller exists, even when nothing was announced of them yet; an announcement replaces what is stored here. */
export async function saveCaller(tx: SqlExecutor, principal: Principal): Promise<void> {
  const { organizationId, userId, role, departmentIds } = principal;
  await tx.query(SAVE_CALLER, [organizationId, userId, role, [...departmentIds]]);
}

/** By id; people of whom nothing was announced yet are absent. */
export async function findPeople(
  tx: SqlExecutor,
  organizationId: string,
  userIds: readonly string[],
): Promise<Map<string, Person>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await tx.query<Person>(FIND_PEOPLE, [organizationId, userIds]);
  return new Map(rows.map((person) => [person.userId, person]));
}

/** Whether the deployment's switch is at run or hold; an older version than the known one changes nothing. */
export async function saveSwitch(
  worker: SqlExecutor,
  name: StopSwitch['name'],
  value: string,
  version: number,
): Promise<void> {
  await worker.query(
    `insert into operations as o (${name}, version)
     values ($1, $2)
     on conflict (id)
     do update set ${name} = excluded.${name}, version = excluded.version, updated_at = now()
             where o.version < excluded.version`,
    [value, version],
  );
}

/** What is announced of the organization from now on comes too late. */
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
