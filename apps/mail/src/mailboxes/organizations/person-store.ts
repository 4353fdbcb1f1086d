import type { PutUserRequest } from '@dak/contracts/mail';
import type { Role } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';

/** What the gateway has said last about a person. */
export interface Person {
  readonly userId: string;
  readonly role: Role;
  readonly active: boolean;
  readonly departmentIds: readonly string[];
}

const SAVE = `
  insert into person as p (organization_id, user_id, role, active, department_ids, version, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (organization_id, user_id)
  do update set role           = excluded.role,
                active         = excluded.active,
                department_ids = excluded.department_ids,
                version        = excluded.version,
                updated_at     = excluded.updated_at
          where p.version < excluded.version`;

/** An older announcement than the known one changes nothing. */
export async function savePerson(
  tx: SqlExecutor,
  person: PutUserRequest,
  now: Date,
): Promise<void> {
  await tx.query(SAVE, [
    person.organizationId,
    person.userId,
    person.role,
    person.active,
    person.departmentIds,
    person.version,
    now,
  ]);
}

/** By id; whom the gateway has not spoken of yet is absent. */
export async function selectPeople(
  tx: SqlExecutor,
  organizationId: string,
  userIds: readonly string[],
): Promise<Map<string, Person>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await tx.query<Person>(
    `select user_id as "userId", role, active, department_ids as "departmentIds"
       from person
      where organization_id = $1 and user_id = any($2::uuid[])`,
    [organizationId, userIds],
  );
  return new Map(rows.map((person) => [person.userId, person]));
}
