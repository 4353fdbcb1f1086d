import type { DeleteMailboxRequest, Empty } from '@dak/contracts/mail';
import { ConflictError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { MailboxDeps } from './mailbox-deps';
import { countUndecided, lockMailbox, updateMailbox } from './mailbox-store';
import { requireMailbox } from './visibility-store';

/**
 * Takes the mailbox and its conversations out of sight; it can be restored for 30 days.
 * @throws ConflictError `mailbox_busy` while mail is scheduled or waits for approval, unless forced
 */
export async function deleteMailbox(
  { database, clock }: MailboxDeps,
  request: DeleteMailboxRequest,
  context: CallContext,
): Promise<Empty> {
  const { principal } = context;
  const { organizationId } = principal;
  await database.inTenant(organizationId, async (tx) => {
    await requireMailbox(tx, principal, request.id, 'send');
    await lockMailbox(tx, organizationId, request.id);
    const row = await requireMailbox(tx, principal, request.id, 'send');
    if (!request.force) {
      const { scheduled, approvals } = await countUndecided(tx, organizationId, row.id);
      if (scheduled + approvals > 0) {
        throw new ConflictError(
          `The mailbox has ${scheduled} scheduled messages and ${approvals} open approvals: cancel them, or repeat with force=true.`,
          'mailbox_busy',
        );
      }
    }
    const at = new Date(clock()).toISOString();
    await updateMailbox(tx, organizationId, {
      ...row,
      deleted_at: at,
      updated_at: at,
      version: row.version + 1,
    });
    await noteAudit(tx, context, {
      action: 'mailbox.deleted',
      target: { type: 'mailbox', id: row.id },
      details: { address: row.address, force: request.force },
    });
  });
  return {};
}
