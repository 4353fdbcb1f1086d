import type { SqlExecutor } from '@dak/platform/postgres';
import type { Access } from '../../mailboxes/visibility-store';

/** How far regular users reach into mailboxes, in person or through their departments. */
export async function selectAssigned(
  tx: SqlExecutor,
  organizationId: string,
  userIds: readonly string[],
  mailboxIds: readonly string[],
): Promise<(userId: string, departmentIds: readonly string[], mailboxId: string) => Access | null> {
  if (userIds.length === 0) return () => null;
  const { rows: users } = await tx.query<{ user_id: string; mailbox_id: string; access: Access }>(
    `select user_id, mailbox_id, access
       from mailbox_user
      where organization_id = $1 and user_id = any($2::uuid[]) and mailbox_id = any($3::uuid[])`,
    [organizationId, userIds, mailboxIds],
  );
  const { rows: departments } = await tx.query<{ mailbox_id: string; department_id: string }>(
    `select mailbox_id, department_id
       from mailbox_department
      where organization_id = $1 and mailbox_id = any($2::uuid[])`,
    [organizationId, mailboxIds],
  );
  return (userId, departmentIds, mailboxId) => {
    const isDepartment = departments.some(
      (row) => row.mailbox_id === mailboxId && departmentIds.includes(row.department_id),
    );
    if (isDepartment) return 'send';
    const own = users.find((row) => row.user_id === userId && row.mailbox_id === mailboxId);
    return own?.access ?? null;
  };
}
