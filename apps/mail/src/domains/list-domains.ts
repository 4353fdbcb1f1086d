import type { Document, GetDomainRequest, ListDomainsRequest, Page } from '@dak/contracts/mail';
import { isUuid, NotFoundError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { renderDomain } from './domain';
import type { DomainDeps } from './domain-deps';
import { domainDocument } from './domain-document';
import { selectDomain, selectDomains } from './domain-store';

/** The domains of the organization, by name. */
export async function listDomains(
  { database, cursorKey }: DomainDeps,
  request: ListDomainsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  const scope = { organizationId, list: 'domains', filter: {} };
  const window = pageWindow(cursorKey, scope, request.page);
  const { rows, total } = await database.inTenant(organizationId, (tx) =>
    selectDomains(tx, organizationId, {
      limit: window.perPage + 1,
      offset: window.offset,
      after: window.after === null ? null : String(window.after[0]),
    }),
  );
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(renderDomain)),
    (row) => [row.name],
  );
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
