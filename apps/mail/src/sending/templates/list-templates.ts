import type { ListTemplatesRequest, ListTemplateVersionsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { loadTemplate } from './load-template';
import { renderTemplateRecord, renderVersionRecord } from './template-record';
import { selectTemplates, selectVersions } from './template-store';

interface ListDeps {
  readonly database: Database;
  readonly cursorKey: Uint8Array;
}

/** In order of making. */
export async function listTemplates(
  { database, cursorKey }: ListDeps,
  request: ListTemplatesRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  const alias = request.alias ?? null;
  const scope = { organizationId, list: 'templates', filter: { alias } };
  const window = pageWindow(cursorKey, scope, request.page);
  const after = window.after === null ? null : String(window.after[0]);
  const { rows, total } = await database.inTenant(organizationId, (tx) =>
    selectTemplates(
      tx,
      organizationId,
      { alias },
      { after, offset: window.offset, limit: window.perPage + 1 },
    ),
  );
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(renderTemplateRecord)),
    (row) => [row.id],
  );
}

/** Newest first. @throws NotFoundError */
export async function listTemplateVersions(
  { database, cursorKey }: ListDeps,
  request: ListTemplateVersionsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  const { id } = request;
  const scope = { organizationId, list: 'template-versions', filter: { id } };
  const window = pageWindow(cursorKey, scope, request.page);
  const before = window.after === null ? null : Number(window.after[0]);
  const { rows, total } = await database.inTenant(organizationId, async (tx) => {
    const template = await loadTemplate(tx, organizationId, id);
    const { offset, perPage } = window;
    const rows = await selectVersions(tx, organizationId, id, {
      before,
      offset,
      limit: perPage + 1,
    });
    return { rows, total: template.version };
  });
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(renderVersionRecord)),
    (row) => [row.version],
  );
}
