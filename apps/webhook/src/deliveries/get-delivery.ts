import type { WebhookDeliveryDetail } from '@dak/contracts/api';
import type { Document, GetDeliveryRequest } from '@dak/contracts/webhook';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../webhook-deps';
import { loadDelivery, loadMessage } from './delivery-store';
import { renderDelivery } from './render-delivery';

/** With the body as it is sent. @throws NotFoundError when endpoint or delivery is not the caller's */
export function getDelivery(
  { database }: WebhookDeps,
  { endpointId, id }: GetDeliveryRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  return database.inTenant(organizationId, async (tx) => {
    await loadEndpoint(tx, principal, endpointId);
    const row = await loadDelivery(tx, organizationId, endpointId, id);
    const { body } = await loadMessage(tx, organizationId, row.event_id);
    const record: WebhookDeliveryDetail = {
      ...renderDelivery(row),
      body: JSON.parse(body.toString('utf8')) as WebhookDeliveryDetail['body'],
    };
    return { id, version: 0, json: jsonBytes(record), replayed: false };
  });
}
