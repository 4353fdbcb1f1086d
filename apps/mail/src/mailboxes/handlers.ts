import type { MailboxServiceService } from '@dak/contracts/mail';
import { seesWholeOrganization } from '@dak/kernel';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createMailbox, documentOf } from './create-mailbox';
import { deleteMailbox } from './delete-mailbox';
import { listMailboxes } from './list-mailboxes';
import type { MailboxDeps } from './mailbox-deps';
import { selectAssignments, selectVisibleMailboxIds } from './mailbox-store';
import { assignmentsDocument, putAssignments } from './put-assignments';
import { restoreMailbox } from './restore-mailbox';
import { updateMailbox } from './update-mailbox';
import { requireMailbox } from './visibility-store';

export function createMailboxHandlers(
  deps: MailboxDeps,
): Handlers<typeof MailboxServiceService, CallContext> {
  const { database, clock } = deps;
  return {
    listMailboxes: (request, context) => listMailboxes(deps, request, context),
    createMailbox: (request, context) => createMailbox(deps, request, context),
    updateMailbox: (request, context) => updateMailbox(deps, request, context),
    deleteMailbox: (request, context) => deleteMailbox(deps, request, context),
    restoreMailbox: (request, context) => restoreMailbox(deps, request, context),
    putAssignments: (request, context) => putAssignments(deps, request, context),
    getMailbox: ({ id }, { principal }) =>
      database.inTenant(principal.organizationId, async (tx) => {
        const row = await requireMailbox(tx, principal, id, 'read');
        return documentOf(tx, principal.organizationId, row, clock());
      }),
    getAssignments: ({ mailboxId }, { principal }) =>
      database.inTenant(principal.organizationId, async (tx) => {
        const row = await requireMailbox(tx, principal, mailboxId, 'read');
        const assignments = await selectAssignments(tx, principal.organizationId, row.id);
        return assignmentsDocument(row.id, row.version, assignments);
      }),
    getVisibility: (_request, { principal }) =>
      database.inTenant(principal.organizationId, async (tx) => ({
        all: seesWholeOrganization(principal),
        mailboxIds: await selectVisibleMailboxIds(tx, principal),
      })),
  };
}
