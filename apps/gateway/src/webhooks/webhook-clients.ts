import { WebhookServiceService } from '@dak/contracts/webhook';
import { createClient, type CallOptions, type Channel, type Client } from '@dak/platform/grpc';

/** Typed clients of everything the webhook service answers. */
export interface WebhookClients {
  readonly webhooks: Client<typeof WebhookServiceService, CallOptions>;
}

export function createWebhookClients(channel: Channel): WebhookClients {
  return { webhooks: createClient(WebhookServiceService, channel) };
}
