import { PutAssignments, type AssignmentsRecord } from '@dak/contracts/api';
import type { Document, PutAssignmentsRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { MailboxDeps } from './mailbox-deps';
import {
  lockMailbox,
  replaceAssignments,
  selectAssignments,
  updateMailbox,
  type MailboxAssignments,
} from './mailbox-store';
import { requireMailbox } from './visibility-store';

/** Replaces the mailbox's assignments and their access levels. */
export async function putAssignments(
  { models, clock }: MailboxDeps,
  request: PutAssignmentsRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const assignments = parseRequest(PutAssignments, requestOf(request));
  return models.inTenant(organizationId, async (tx) => {
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
