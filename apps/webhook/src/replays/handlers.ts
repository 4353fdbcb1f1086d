import type { WebhookServiceService } from '@dak/contracts/webhook';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { loadEndpoint } from '../endpoints/endpoint-store';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { loadReplay, renderReplay } from './replay-store';
import { startReplay } from './start-replay';

export function createReplayHandlers(
  deps: WebhookDeps,
): Pick<Handlers<typeof WebhookServiceService, CallContext>, 'startReplay' | 'getReplay'> {
  return {
    startReplay: (request, context) => startReplay(deps, request, context),
    getReplay: ({ endpointId, id }, { principal }) =>
      deps.database.inTenant(principal.organizationId, async (tx) => {
        await loadEndpoint(tx, principal, endpointId);
        const row = await loadReplay(tx, principal.organizationId, endpointId, id);
        return { id, version: 0, json: jsonBytes(renderReplay(row)), replayed: false };
      }),
  };
}
