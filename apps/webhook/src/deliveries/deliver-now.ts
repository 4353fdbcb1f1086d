import type { Document, RetryDeliveryRequest, SendTestRequest } from '@dak/contracts/webhook';
import { TestWebhook } from '@dak/contracts/api';
import { eventBody, exampleEvent } from '@dak/contracts/events';
import { parseRequest } from '@dak/contracts/requests';
import { ConflictError, ForbiddenError, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { EndpointRow } from '../endpoints/endpoint-row';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { insertDeliveries, insertMessages } from '../fan-out/fan-out-store';
import { mayStillRead } from '../visibility/may-still-read';
import { loadDelivery, loadMessage } from './delivery-store';
import { renderDelivery } from './render-delivery';

/**
 * Sends a sample event to the endpoint, in one immediate attempt.
 * @throws NotFoundError; ConflictError when the endpoint is not enabled; InvalidError for an unknown kind
 */
export async function sendTest(
  deps: WebhookDeps,
  { id: endpointId, eventType }: SendTestRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  const { event_type: kind } = parseRequest(TestWebhook, { event_type: eventType || undefined });
  const document = await deps.database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      requireEnabled(await loadEndpoint(tx, context.principal, endpointId));
      const now = deps.clock();
      const id = uuidv7(now);
      const example = exampleEvent(kind, { id: `evt_${id}`, organizationId, at: new Date(now) });
      const event = { ...example, sequence: 0, data: { ...example.data, test: true } };
      const message = insertMessages([
        {
          organization_id: organizationId,
          event_id: event.id,
          type: kind,
          mailbox_id: null,
          department_id: null,
          conversation_id: null,
          sequence: event.sequence,
          needs_send: false,
          body: eventBody(event),
          occurred_at: event.timestamp,
          traceparent: context.traceparent,
        },
      ]);
      await tx.query(message.text, message.values);
      return insertOne(tx, organizationId, endpointId, event.id, kind, 'test', id);
    }),
  );
  deps.onChanged([endpointId]);
  return document;
}

/**
 * Sends the event of a delivery again, in one immediate attempt, as a new delivery.
 * @throws NotFoundError; ConflictError when the endpoint is not enabled; ForbiddenError when its owner
 *   may no longer read the conversation, or a key that made or changed the endpoint lacks the scope
 */
export async function retryDelivery(
  deps: WebhookDeps,
  { endpointId, id }: RetryDeliveryRequest,
  context: CallContext,
): Promise<Document> {
  const { database } = deps;
  const { organizationId } = context.principal;
  const { endpoint, event } = await database.inTenant(organizationId, async (tx) => {
    const endpoint = await loadEndpoint(tx, context.principal, endpointId);
    const delivery = await loadDelivery(tx, organizationId, endpointId, id);
    const message = await loadMessage(tx, organizationId, delivery.event_id);
    const { event_type, trigger } = delivery;
    return { endpoint, event: { ...message, event_type, trigger } };
  });
  const readable = await mayStillRead(deps, organizationId, endpoint, [event]);
  if (!readable(event)) {
    throw new ForbiddenError(
      'The owner of this webhook, or an API key that made or changed it, may not read this event any more.',
      'owner_cannot_read',
    );
  }
  const document = await database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      requireEnabled(await loadEndpoint(tx, context.principal, endpointId));
      const delivery = await loadDelivery(tx, organizationId, endpointId, id);
      await noteAudit(tx, context, {
        action: 'webhook.delivery_retried',
        target: { type: 'webhook', id: endpointId },
        details: { delivery_id: id },
      });
      const { event_id, event_type } = delivery;
      return insertOne(
        tx,
        organizationId,
        endpointId,
        event_id,
        event_type,
        'retry',
        uuidv7(deps.clock()),
      );
    }),
  );
  deps.onChanged([endpointId]);
  return document;
}

function requireEnabled(endpoint: Pick<EndpointRow, 'enabled' | 'status'>): void {
  if (endpoint.enabled && endpoint.status === 'active') return;
  throw new ConflictError(
    'The webhook is not enabled: set enabled to true, then send again.',
    'webhook_disabled',
  );
}

async function insertOne(
  tx: SqlExecutor,
  organizationId: string,
  endpointId: string,
  eventId: string,
  eventType: string,
  trigger: 'retry' | 'test',
  id: string,
): Promise<Document> {
  const insert = insertDeliveries([
    {
      organization_id: organizationId,
      endpoint_id: endpointId,
      id,
      event_id: eventId,
      event_type: eventType,
      trigger,
      replay_id: null,
      state: 'pending',
      // It does not wait for earlier events of its conversation.
      order_key: null,
      order_seq: 0,
      error_code: null,
    },
  ]);
  await tx.query(insert.text, insert.values);
  const row = await loadDelivery(tx, organizationId, endpointId, id);
  return { id, version: 0, json: jsonBytes(renderDelivery(row)), replayed: false };
}
