import type { Document, RestoreMailboxRequest } from '@dak/contracts/mail';
import { NotFoundError, isUuid } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { isUniqueViolation } from '@dak/platform/postgres';
import { addressTaken, documentOf, holdDomainOf } from './create-mailbox';
import type { MailboxDeps } from './mailbox-deps';
import { selectDeleted, updateMailbox } from './mailbox-store';

/**
 * Brings a deleted mailbox back with everything in it.
 * @throws ConflictError `address_taken` when its address went to another mailbox meanwhile
 * @throws RefusedError `domain_not_owned` when its domain is no longer the organization's
 */
export async function restoreMailbox(
  { database, clock }: MailboxDeps,
  request: RestoreMailboxRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  if (!isUuid(request.id)) throw new NotFoundError('mailbox');
  try {
    return await database.inTenant(principal.organizationId, (tx) =>
      idempotent(tx, context, async () => {
        const row = await selectDeleted(tx, principal, request.id);
        if (row === null) throw new NotFoundError('deleted mailbox');
        const now = clock();
        const restored = {
          ...row,
          domain_id: await holdDomainOf(tx, principal.organizationId, row.address),
          deleted_at: null,
          updated_at: new Date(now).toISOString(),
          version: row.version + 1,
        };
        await updateMailbox(tx, principal.organizationId, restored);
        await noteAudit(tx, context, {
          action: 'mailbox.restored',
          target: { type: 'mailbox', id: row.id },
          details: { address: row.address },
        });
        return documentOf(tx, principal.organizationId, restored, now);
      }),
    );
  } catch (error) {
    if (isUniqueViolation(error)) throw addressTaken();
    throw error;
  }
}
