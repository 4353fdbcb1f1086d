import type { WebhookServiceService } from '@dak/contracts/webhook';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { createEndpoint } from './create-endpoint';
import { cancelPending } from './disable-endpoint-store';
import { deleteEndpointRow, loadEndpoint } from './endpoint-store';
import { listEndpoints } from './list-endpoints';
import { renderEndpoint } from './render-endpoint';
import { updateEndpoint } from './update-endpoint';
import type { WebhookDeps } from './webhook-deps';

type EndpointMethods =
  'listEndpoints' | 'createEndpoint' | 'getEndpoint' | 'updateEndpoint' | 'deleteEndpoint';

export function createEndpointHandlers(
  deps: WebhookDeps,
): Pick<Handlers<typeof WebhookServiceService, CallContext>, EndpointMethods> {
  return {
    listEndpoints: (request, context) => listEndpoints(deps, request, context),
    createEndpoint: (request, context) => createEndpoint(deps, request, context),
    getEndpoint: ({ id }, { principal }) =>
      deps.database.inTenant(principal.organizationId, async (tx) => {
        const row = await loadEndpoint(tx, principal, id);
        const json = jsonBytes(renderEndpoint(row));
        return { id, version: row.version, json, replayed: false };
      }),
    updateEndpoint: (request, context) => updateEndpoint(deps, request, context),
    async deleteEndpoint({ id }, context) {
      const { principal } = context;
      await deps.database.inTenant(principal.organizationId, async (tx) => {
        const row = await loadEndpoint(tx, principal, id, true);
        await deleteEndpointRow(tx, principal.organizationId, row.id);
        await cancelPending(tx, [row.id]);
        await noteAudit(tx, context, {
          action: 'webhook.deleted',
          target: { type: 'webhook', id: row.id },
        });
      });
      deps.onChanged([id]);
      return {};
    },
  };
}
