import type { WebhookDeliveryDetail } from '@dak/contracts/api';
import type { Document, GetDeliveryRequest } from '@dak/contracts/webhook';
import { NotFoundError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { mayReadNow } from '../visibility/may-still-read';
import { loadDelivery, loadMessage } from './delivery-store';
import { renderDelivery } from './render-delivery';

/**
 * A delivery with its body, which is null for callers without `mail.read`, or without `mail.send` where the event
 * reveals a blind copy.
 * @throws NotFoundError when the endpoint or the delivery is not the caller's, or the caller may no longer read the
 *   conversation of its event
 */
export async function getDelivery(
  { database, visibility }: Pick<WebhookDeps, 'database' | 'visibility'>,
  { endpointId, id }: GetDeliveryRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  const { row, message } = await database.inTenant(organizationId, async (tx) => {
    await loadEndpoint(tx, principal, endpointId);
    const row = await loadDelivery(tx, organizationId, endpointId, id);
    return { row, message: await loadMessage(tx, organizationId, row.event_id) };
  });
  const event = { ...message, trigger: row.trigger };
  const readable = await mayReadNow(visibility, organizationId, principal, [event]);
  if (!readable(event)) throw new NotFoundError('delivery');
  const maySee = message.needs_send !== true || principal.scopes.includes('mail.send');
  const record: WebhookDeliveryDetail = {
    ...renderDelivery(row),
    body:
      principal.scopes.includes('mail.read') && maySee
        ? (JSON.parse(message.body.toString('utf8')) as WebhookDeliveryDetail['body'])
        : null,
  };
  return { id, version: 0, json: jsonBytes(record), replayed: false };
}
