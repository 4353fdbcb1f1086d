import type { Assignee } from '@dak/contracts/mail';
import type { MailDirectory } from '../backend/mail-directory-store';
import { noSuch } from '../backend/no-such';

/** The assignee and the department in a request, which only the gateway can check. */
export interface ConversationTarget {
  assignee?: { type: 'user' | 'agent'; id: string } | null | undefined;
  department_id?: string | null | undefined;
}

/**
 * The assignee with their name; undefined = unassigned.
 * @throws InvalidError naming the field that is no user or department of the organization
 */
export async function resolveTarget(
  directory: MailDirectory,
  organizationId: string,
  { assignee, department_id: departmentId }: ConversationTarget,
): Promise<Assignee | undefined> {
  if (departmentId !== null && departmentId !== undefined) {
    await directory.requireDepartments(organizationId, [
      { field: 'department_id', id: departmentId },
    ]);
  }
  if (assignee === null || assignee === undefined) return undefined;
  if (assignee.type === 'agent') return { ...assignee, name: 'Agent' };
  const name = await directory.userName(organizationId, assignee.id);
  if (name === null) throw noSuch({ field: 'assignee.id' }, 'user', '/settings/users');
  return { ...assignee, name };
}
