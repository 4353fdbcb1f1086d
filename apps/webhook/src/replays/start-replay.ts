import type { Document, StartReplayRequest } from '@dak/contracts/webhook';
import { ReplayWebhook } from '@dak/contracts/api';
import { parseRequest } from '@dak/contracts/requests';
import { ConflictError, InvalidError, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { countRepeated, insertReplay, loadReplay, renderReplay } from './replay-store';

/**
 * Sends the events of a period again, under their webhook-ids, as new deliveries.
 * @throws InvalidError, NotFoundError, ConflictError when the endpoint is not enabled
 */
export async function startReplay(
  deps: WebhookDeps,
  request: StartReplayRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const { endpointId } = request;
  const now = deps.clock();
  const body = parseRequest(ReplayWebhook, {
    since: request.since?.toISOString(),
    until: (request.until ?? new Date(now)).toISOString(),
    types: request.eventTypes,
    only_failed: request.onlyFailed,
  });
  const { since, until = '', types, only_failed } = body;
  if (until <= since) throw new InvalidError('until must be later than since.');
  const document = await deps.database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const endpoint = await loadEndpoint(tx, principal, endpointId);
      if (!endpoint.enabled || endpoint.status !== 'active') {
        throw new ConflictError(
          'The webhook is not enabled: set enabled to true, then replay.',
          'webhook_disabled',
        );
      }
      const range = { endpoint_id: endpointId, since, until, event_types: types, only_failed };
      const id = uuidv7(now);
      await insertReplay(tx, {
        ...range,
        organization_id: organizationId,
        id,
        requested_by: principal.userId,
        total: await countRepeated(tx, range),
        created_at: new Date(now).toISOString(),
      });
      await noteAudit(tx, context, {
        action: 'webhook.replay_started',
        target: { type: 'webhook', id: endpointId },
        details: { replay_id: id, since, until, types, only_failed },
      });
      const row = await loadReplay(tx, organizationId, endpointId, id);
      return { id, version: 0, json: jsonBytes(renderReplay(row)), replayed: false };
    }),
  );
  return document;
}
