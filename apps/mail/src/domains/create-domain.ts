import { DOMAIN_LIMITS } from '@dak/contracts/api';
import type { CreateDomainRequest, Document } from '@dak/contracts/mail';
import { ConflictError, RefusedError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { domainTaken, newDomain } from './domain';
import type { DomainDeps } from './domain-deps';
import { domainDocument } from './domain-document';
import { ownableDomain } from './domain-name';
import { insertDomain, lockDomains } from './domain-store';
import { findForeignOwner } from './foreign-owner';

/**
 * Notes that the organization wants the domain; it holds nothing until its record is seen.
 * @throws ConflictError `domain_taken` when it is verified elsewhere, or the organization's already
 */
export async function createDomain(
  { database, clock }: DomainDeps,
  request: CreateDomainRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  const row = newDomain(ownableDomain('name', request.name), clock());
  const isForeign = (await findForeignOwner(database, organizationId, [row.name])) !== null;
  return database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const domains = await lockDomains(tx, organizationId);
      if (domains.some(({ name }) => name === row.name)) {
        throw new ConflictError(
          `${row.name} is among your domains: GET /domains lists them.`,
          'domain_taken',
        );
      }
      if (isForeign) throw domainTaken(row.name);
      if (domains.length >= DOMAIN_LIMITS.domains) {
        throw new RefusedError(
          `The organization has ${DOMAIN_LIMITS.domains} domains, which is the limit. Delete one that is not used.`,
          'domain_limit',
        );
      }
      await insertDomain(tx, organizationId, row);
      await noteAudit(tx, context, {
        action: 'domain.created',
        target: { type: 'domain', id: row.id },
        details: { name: row.name },
      });
      return domainDocument(row);
    }),
  );
}
