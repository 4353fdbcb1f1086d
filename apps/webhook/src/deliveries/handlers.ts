import type { WebhookServiceService } from '@dak/contracts/webhook';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { retryDelivery, sendTest } from './deliver-now';
import { getDelivery } from './get-delivery';
import { listAttempts } from './list-attempts';
import { listDeliveries } from './list-deliveries';

type DeliveryMethods =
  'listDeliveries' | 'getDelivery' | 'listAttempts' | 'retryDelivery' | 'sendTest';

export function createDeliveryHandlers(
  deps: WebhookDeps,
): Pick<Handlers<typeof WebhookServiceService, CallContext>, DeliveryMethods> {
  return {
    listDeliveries: (request, context) => listDeliveries(deps, request, context),
    getDelivery: (request, context) => getDelivery(deps, request, context),
    listAttempts: (request, context) => listAttempts(deps, request, context),
    retryDelivery: (request, context) => retryDelivery(deps, request, context),
    sendTest: (request, context) => sendTest(deps, request, context),
  };
}
