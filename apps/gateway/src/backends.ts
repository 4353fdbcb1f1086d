import type { BackendName } from '@dak/platform/config';
import type { Channel } from '@dak/platform/grpc';
import { combineBackends, type Backend } from './backend/backend';
import { mailService } from './mail/mail-service';
import { webhookService } from './webhooks/webhook-service';

/** What each service brings to the gateway. */
const BACKENDS: Readonly<Record<BackendName, (channel: Channel) => Backend>> = {
  mail: mailService,
  webhook: webhookService,
};

/** All services behind the gateway as one, each reached over its channel. */
export function backendOver(channels: Readonly<Record<BackendName, Channel>>): Backend {
  return combineBackends(
    (Object.keys(BACKENDS) as BackendName[]).map((name) => BACKENDS[name](channels[name])),
  );
}
