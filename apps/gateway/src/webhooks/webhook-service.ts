import { WEBHOOK_LIMITS } from '@dak/contracts/api';
import type { Channel } from '@dak/platform/grpc';
import { tenantDirectory, type ServiceBackend } from '../backend/backend';
import { isFound } from '../backend/is-found';
import { deliveryRoutes } from './delivery-routes';
import { endpointRoutes } from './endpoint-routes';
import { secretRoutes } from './secret-routes';
import { createWebhookClients } from './webhook-clients';

/** The webhook service behind `channel`, as the gateway uses it. */
export function webhookService(channel: Channel): ServiceBackend<'seesWebhook'> {
  const clients = createWebhookClients(channel);
  return {
    tenants: tenantDirectory(channel),
    routes: (parts) => [
      ...endpointRoutes(clients, parts),
      ...deliveryRoutes(clients),
      ...secretRoutes(clients),
    ],
    serviceLimits: WEBHOOK_LIMITS,
    provides: {
      seesWebhook: (id, call) => isFound(clients.webhooks.getEndpoint({ id }, call)),
    },
  };
}
