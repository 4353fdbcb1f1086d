import type { DeleteDomainRequest, Empty } from '@dak/contracts/mail';
import { ConflictError, isUuid, NotFoundError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { DomainDeps } from './domain-deps';
import { countLiveMailboxes, lockDomain, removeDomain } from './domain-store';
import { formerOwnerForgotten } from './owner-kept';

/**
 * Gives the domain up: whoever proves it next owns it.
 * @throws ConflictError `domain_in_use` while there are mailboxes in it
 */
export async function deleteDomain(
  { database }: DomainDeps,
  { id }: DeleteDomainRequest,
  context: CallContext,
): Promise<Empty> {
  const { organizationId } = context.principal;
  if (!isUuid(id)) throw new NotFoundError('domain');
  const wasOwned = await database.inTenant(organizationId, async (tx) => {
    const row = await lockDomain(tx, organizationId, id);
    if (row === null) throw new NotFoundError('domain');
    const isOwned = row.status === 'verified';
    const mailboxes = isOwned ? await countLiveMailboxes(tx, organizationId, row.name) : 0;
    if (mailboxes > 0) {
      throw new ConflictError(
        `${row.name} has ${mailboxes} mailboxes: delete them first.`,
        'domain_in_use',
      );
    }
    await removeDomain(tx, organizationId, id);
    await noteAudit(tx, context, {
      action: 'domain.deleted',
      target: { type: 'domain', id },
      details: { name: row.name },
    });
    return isOwned;
  });
  if (wasOwned) await formerOwnerForgotten();
  return {};
}
