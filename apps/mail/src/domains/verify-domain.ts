import type { Document, VerifyDomainRequest } from '@dak/contracts/mail';
import { actorOf, isUuid, NotFoundError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { isUniqueViolation } from '@dak/platform/postgres';
import { afterLook, domainTaken, judgeOwnership, ownershipRecord } from './domain';
import type { DomainDeps } from './domain-deps';
import { domainDocument } from './domain-document';
import { lockDomain, nameDomainOfMailboxes, selectDomain, updateDomain } from './domain-store';
import { findForeignOwner } from './foreign-owner';
import { appendDomainVerified } from './tenant-event-store';

/**
 * Looks for the record that proves the ownership. The first organization whose record is seen gets the
 * domain; of two at the same time the database lets one through.
 * @throws ConflictError `domain_taken` when another organization owns it
 */
export async function verifyDomain(
  { database, clock, lookupTxt }: DomainDeps,
  { id }: VerifyDomainRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  if (!isUuid(id)) throw new NotFoundError('domain');
  const wanted = await database.inTenant(organizationId, (tx) =>
    selectDomain(tx, organizationId, id),
  );
  if (wanted === null) throw new NotFoundError('domain');
  if ((await findForeignOwner(database, organizationId, [wanted.name])) !== null) {
    throw domainTaken(wanted.name);
  }
  const record = ownershipRecord(wanted);
  const finding = judgeOwnership(await lookupTxt(record.name), record.value);
  try {
    return await database.inTenant(organizationId, (tx) =>
      idempotent(tx, context, async () => {
        const before = await lockDomain(tx, organizationId, id);
        if (before === null) throw new NotFoundError('domain');
        const now = clock();
        const after = afterLook(before, finding, now);
        await updateDomain(tx, organizationId, after);
        if (before.status !== after.status) {
          await nameDomainOfMailboxes(tx, organizationId, [after.name]);
          await noteAudit(tx, context, {
            action: 'domain.updated',
            target: { type: 'domain', id },
            details: { name: after.name, status: after.status },
          });
          await appendDomainVerified(
            tx,
            { organizationId, occurredAt: now, actor: actorOf(principal) },
            { domainId: id, domain: after.name, records: ['ownership'] },
          );
        }
        return domainDocument(after);
      }),
    );
  } catch (error) {
    if (isUniqueViolation(error, 'domain_owner')) throw domainTaken(wanted.name);
    throw error;
  }
}
