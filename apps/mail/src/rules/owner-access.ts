import { seesWholeOrganization } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { ACCESS_LEVELS, type Access } from '../mailboxes/visibility';
import type { Rule } from './rule';

/** What the owner of a rule may do in a mailbox now; null = not even see it. */
export type OwnerAccess = (rule: Rule, mailboxId: string) => Access | null;

/**
 * Asks for the assignments of this moment: a rule of somebody who has lost a mailbox does nothing
 * there any more. Role and departments are those of the rule.
 */
export async function loadOwnerAccess(
  tx: SqlExecutor,
  organizationId: string,
  rules: readonly Rule[],
  mailboxIds: readonly string[],
): Promise<OwnerAccess> {
  const owners = [
    ...new Set(
      rules.filter(({ owner }) => !seesWholeOrganization(owner)).map(({ owner }) => owner.userId),
    ),
  ];
  if (owners.length === 0) return () => 'send';
  const { rows: users } = await tx.query<{ user_id: string; mailbox_id: string; access: Access }>(
    `select user_id, mailbox_id, access
       from mailbox_user
      where organization_id = $1 and user_id = any($2::uuid[]) and mailbox_id = any($3::uuid[])`,
    [organizationId, owners, mailboxIds],
  );
  const { rows: departments } = await tx.query<{ mailbox_id: string; department_id: string }>(
    `select mailbox_id, department_id
       from mailbox_department
      where organization_id = $1 and mailbox_id = any($2::uuid[])`,
    [organizationId, mailboxIds],
  );
  return ({ owner }, mailboxId) => {
    if (seesWholeOrganization(owner)) return 'send';
    const isDepartment = departments.some(
      (row) => row.mailbox_id === mailboxId && owner.departmentIds.includes(row.department_id),
    );
    if (isDepartment) return 'send';
    const own = users.find((row) => row.user_id === owner.userId && row.mailbox_id === mailboxId);
    return own?.access ?? null;
  };
}

export function isAtLeast(access: Access, needed: Access): boolean {
  return ACCESS_LEVELS.indexOf(access) >= ACCESS_LEVELS.indexOf(needed);
}
