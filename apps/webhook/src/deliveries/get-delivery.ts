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
 * With the body as it is sent, for callers with `mail.read`, and `mail.send` where it tells of a blind copy; null for
 * others.
 * @throws NotFoundError when endpoint or delivery is not the caller's, or when they may not read the
 *   conversation of its event any more
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
  const place = { ...message, trigger: row.trigger };
  const readable = await mayReadNow(visibility, organizationId, principal, [place]);
  if (!readable(place)) throw new NotFoundError('delivery');
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
