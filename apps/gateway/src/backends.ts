import type { BackendName } from '@dak/platform/config';
import type { Channel } from '@dak/platform/grpc';
import { combineBackends, type Backend, type ServiceBackend } from './backend/backend';
import { mailService } from './mail/mail-service';
import { webhookService } from './webhooks/webhook-service';

/** All services behind the gateway as one, each reached over its channel. */
export function backendOver(channels: Readonly<Record<BackendName, Channel>>): Backend {
  return combineBackends({
    mail: mailService(channels.mail),
    webhook: webhookService(channels.webhook),
  } satisfies Record<BackendName, ServiceBackend>);
}
