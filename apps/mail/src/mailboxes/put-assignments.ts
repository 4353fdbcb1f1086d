import type { AssignmentsRecord } from '@dak/contracts/api';
import type { Document, PutAssignmentsRequest } from '@dak/contracts/mail';
import { InvalidError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { uuids } from './create-mailbox';
import type { MailboxDeps } from './mailbox-deps';
import {
  lockMailbox,
  replaceAssignments,
  selectAssignments,
  updateMailbox,
  type MailboxAssignments,
} from './mailbox-store';
import { ACCESS_LEVELS, requireMailbox } from './visibility-store';

/** Replaces who sees the mailbox, and what they may do there. */
export async function putAssignments(
  { database, clock }: MailboxDeps,
  request: PutAssignmentsRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const assignments = parsed(request);
  return database.inTenant(organizationId, async (tx) => {
    await requireMailbox(tx, principal, request.mailboxId, 'send');
    await lockMailbox(tx, organizationId, request.mailboxId);
    const row = await requireMailbox(tx, principal, request.mailboxId, 'send');
    await replaceAssignments(tx, organizationId, row.id, assignments);
    await updateMailbox(tx, organizationId, {
      ...row,
      updated_at: new Date(clock()).toISOString(),
      version: row.version + 1,
    });
    await noteAudit(tx, context, {
      action: 'mailbox.assigned',
      target: { type: 'mailbox', id: row.id },
      details: { users: assignments.users, department_ids: assignments.department_ids },
    });
    const stored = await selectAssignments(tx, organizationId, row.id);
    return assignmentsDocument(row.id, row.version + 1, stored);
  });
}

export function assignmentsDocument(
  mailboxId: string,
  version: number,
  assignments: MailboxAssignments,
): Document {
  const record: AssignmentsRecord = { mailbox_id: mailboxId, ...assignments };
  return { id: mailboxId, version, json: jsonBytes(record), replayed: false };
}

function parsed(request: PutAssignmentsRequest): MailboxAssignments {
  const ids = uuids(
    'users',
    request.users.map((user) => user.userId),
  );
  if (ids.length < request.users.length) throw new InvalidError('users must name each user once.');
  const users = request.users.map(({ userId, access }) => {
    const level = ACCESS_LEVELS.find((name) => name === access);
    if (level === undefined) {
      throw new InvalidError(`users must have an access of ${ACCESS_LEVELS.join(', ')}.`);
    }
    return { user_id: userId.toLowerCase(), access: level };
  });
  return { users, department_ids: uuids('department_ids', request.departmentIds) };
}
