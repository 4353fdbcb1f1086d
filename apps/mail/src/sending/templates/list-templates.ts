import type { ListTemplatesRequest, ListTemplateVersionsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { listPage } from '@dak/platform/paging';
import { loadTemplate } from './load-template';
import { renderTemplateRecord, renderVersionRecord } from './template-record';
import { selectTemplates, selectVersions } from './template-store';

interface ListDeps {
  readonly database: Database;
  readonly cursorKey: Uint8Array;
}

/** In order of making. */
export function listTemplates(
  { database, cursorKey }: ListDeps,
  request: ListTemplatesRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  const alias = request.alias ?? null;
  return listPage(cursorKey, request.page, {
    scope: { organizationId, list: 'templates', filter: { alias } },
    select: ({ after, ...window }) =>
      database.inTenant(organizationId, (tx) =>
        selectTemplates(
          tx,
          organizationId,
          { alias },
          { ...window, after: after && String(after[0]) },
        ),
      ),
    recordOf: renderTemplateRecord,
    positionOf: ({ id }) => [id],
  });
}

/** Newest first. @throws NotFoundError */
export function listTemplateVersions(
  { database, cursorKey }: ListDeps,
  { id, page }: ListTemplateVersionsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  return listPage(cursorKey, page, {
    scope: { organizationId, list: 'template-versions', filter: { id } },
    select: ({ after, ...window }) =>
      database.inTenant(organizationId, async (tx) => {
        const { version } = await loadTemplate(tx, organizationId, id);
        const before = after && Number(after[0]);
        const rows = await selectVersions(tx, organizationId, id, { ...window, before });
        return { rows, total: version };
      }),
    recordOf: renderVersionRecord,
    positionOf: ({ version }) => [version],
  });
}
