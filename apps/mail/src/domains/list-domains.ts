import type { Document, GetDomainRequest, ListDomainsRequest, Page } from '@dak/contracts/mail';
import { isUuid, NotFoundError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
import { renderDomain } from './domain';
import type { DomainDeps } from './domain-deps';
import { domainDocument } from './domain-document';
import { selectDomain, selectDomains } from './domain-store';

/** The domains of the organization, by name. */
export function listDomains(
  { database, cursorKey }: DomainDeps,
  request: ListDomainsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  return listPage(cursorKey, request.page, {
    scope: { organizationId, list: 'domains', filter: {} },
    select: ({ after, ...window }) =>
      database.inTenant(organizationId, (tx) =>
        selectDomains(tx, organizationId, { ...window, after: after && String(after[0]) }),
      ),
    recordOf: renderDomain,
    positionOf: ({ name }) => [name],
  });
}

export async function getDomain(
  { database }: DomainDeps,
  { id }: GetDomainRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Document> {
  if (!isUuid(id)) throw new NotFoundError('domain');
  const row = await database.inTenant(organizationId, (tx) => selectDomain(tx, organizationId, id));
  if (row === null) throw new NotFoundError('domain');
  return domainDocument(row);
}
