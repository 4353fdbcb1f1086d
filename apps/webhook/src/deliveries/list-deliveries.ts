import type { ListDeliveriesRequest, Page } from '@dak/contracts/webhook';
import { DELIVERY_STATES } from '@dak/contracts/api';
import { InvalidError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { EXACT_TOTAL_LIMIT, jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { leastIdOf } from '../fan-out/delivery-id';
import { countDeliveries, selectDeliveries } from './delivery-store';
import { renderDelivery } from './render-delivery';

/** Newest first, by the time of the event. @throws NotFoundError when the endpoint is not the caller's */
export function listDeliveries(
  { database, cursorKey }: WebhookDeps,
  request: ListDeliveriesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const { endpointId, states, eventTypes, since, until } = request;
  const unknown = states.find((state) => !(DELIVERY_STATES as readonly string[]).includes(state));
  if (unknown !== undefined) {
    throw new InvalidError(`state must be of ${DELIVERY_STATES.join(', ')}; "${unknown}" is not.`);
  }
  const filter = {
    endpointId,
    states,
    eventTypes,
    from: since === undefined ? null : leastIdOf(since.getTime()),
    to: until === undefined ? null : leastIdOf(until.getTime()),
  };
  const scope = { organizationId, list: 'webhook deliveries', filter };
  const window = pageWindow(cursorKey, scope, request.page);
  return database.inTenant(organizationId, async (tx) => {
    await loadEndpoint(tx, principal, endpointId);
    const before = window.after?.[0];
    const rows = await selectDeliveries(tx, organizationId, filter, {
      before: typeof before === 'string' ? before : null,
      offset: window.offset,
      limit: window.perPage + 1,
    });
    const count = await countDeliveries(tx, organizationId, filter, EXACT_TOTAL_LIMIT);
    return pageOf(
      cursorKey,
      scope,
      window,
      rows,
      { count: Math.min(count, EXACT_TOTAL_LIMIT), isEstimate: count > EXACT_TOTAL_LIMIT },
      (shown) => jsonBytes(shown.map(renderDelivery)),
      (row) => [row.id],
    );
  });
}
