import { WEBHOOK_LIMITS } from '@dak/contracts/api';
import { DomainError, uuidv7 } from '@dak/kernel';
import type { CallOptions, Channel } from '@dak/platform/grpc';
import type { Backend } from '../backend/backend';
import { deliveryRoutes } from './delivery-routes';
import { endpointRoutes } from './endpoint-routes';
import { secretRoutes } from './secret-routes';
import { createWebhookClients } from './webhook-clients';
import { webhookKeepers } from './webhook-keepers';

const ANNOUNCE_WITHIN_MS = 10_000;

/** What the gateway needs of the webhook service behind `channel`: its routes, and whom it tells of organizations and people. */
export function webhookService(channel: Channel): Backend {
  const clients = createWebhookClients(channel);
  return {
    routes: (parts) => [
      ...endpointRoutes(clients, parts),
      ...deliveryRoutes(clients),
      ...secretRoutes(clients),
    ],
    serviceLimits: WEBHOOK_LIMITS,
    keepers: webhookKeepers(clients.retention),
    seesWebhook: async (id, call) => {
      try {
        await clients.webhooks.getEndpoint({ id }, call);
        return true;
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'not_found') return false;
        throw error;
      }
    },
    announceOrganization: async ({ organizationId, name, status, version }) => {
      await clients.tenants.putOrganization(
        { organizationId, name, status, version },
        announcement(),
      );
    },
    announceKeyEnd: async ({ organizationId, keyId }) => {
      await clients.tenants.putKeyEnd({ organizationId, keyId }, announcement());
    },
    announceOperations: async ({ webhooks, version }) => {
      await clients.tenants.putOperations({ webhooks, version }, announcement());
    },
    announceUser: async ({ organizationId, userId, role, active, departmentIds, version }) => {
      await clients.tenants.putUser(
        { organizationId, userId, role, active, departmentIds, version },
        announcement(),
      );
    },
    settleAudit: async () => {
      await clients.tenants.settleAudit({}, announcement());
    },
  };
}

function announcement(): CallOptions {
  return {
    principal: null,
    requestId: `announce-${uuidv7()}`,
    deadline: Date.now() + ANNOUNCE_WITHIN_MS,
  };
}
