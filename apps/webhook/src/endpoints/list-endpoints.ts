import type { ListEndpointsRequest, Page } from '@dak/contracts/webhook';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { countEndpoints, selectEndpoints } from './endpoint-store';
import { renderEndpoint } from './render-endpoint';
import type { WebhookDeps } from './webhook-deps';

/** Those that the caller manages, oldest first. */
export function listEndpoints(
  { database, cursorKey }: WebhookDeps,
  request: ListEndpointsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = { organizationId, list: 'webhooks', filter: {} };
  const window = pageWindow(cursorKey, scope, request.page);
  return database.inTenant(organizationId, async (tx) => {
    const after = window.after?.[0];
    const rows = await selectEndpoints(tx, principal, {
      after: typeof after === 'string' ? after : null,
      offset: window.offset,
      limit: window.perPage + 1,
    });
    return pageOf(
      cursorKey,
      scope,
      window,
      rows,
      { count: await countEndpoints(tx, principal), isEstimate: false },
      (shown) => jsonBytes(shown.map(renderEndpoint)),
      (row) => [row.id],
    );
  });
}
