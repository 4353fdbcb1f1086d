import type { WebhookAttemptRecord } from '@dak/contracts/api';
import type { ListAttemptsRequest, Page } from '@dak/contracts/webhook';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { loadDelivery, selectAttempts } from './delivery-store';

/** Oldest first. @throws NotFoundError when endpoint or delivery is not the caller's */
export function listAttempts(
  { database, cursorKey }: WebhookDeps,
  { endpointId, deliveryId, page }: ListAttemptsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = { organizationId, list: 'webhook attempts', filter: { endpointId, deliveryId } };
  const window = pageWindow(cursorKey, scope, page);
  return database.inTenant(organizationId, async (tx) => {
    await loadEndpoint(tx, principal, endpointId);
    await loadDelivery(tx, organizationId, endpointId, deliveryId);
    const all: WebhookAttemptRecord[] = await selectAttempts(tx, endpointId, deliveryId);
    const after = window.after?.[0];
    const rest = typeof after === 'number' ? all.filter(({ number }) => number > after) : all;
    return pageOf(
      cursorKey,
      scope,
      window,
      rest.slice(window.offset, window.offset + window.perPage + 1),
      { count: all.length, isEstimate: false },
      (shown) => jsonBytes(shown),
      (row) => [row.number],
    );
  });
}
