import {
  RetentionServiceService,
  TenantServiceService,
  WebhookServiceService,
} from '@dak/contracts/webhook';
import { createClient, type CallOptions, type Channel, type Client } from '@dak/platform/grpc';

/** Typed clients of everything the webhook service answers. */
export interface WebhookClients {
  readonly webhooks: Client<typeof WebhookServiceService, CallOptions>;
  readonly retention: Client<typeof RetentionServiceService, CallOptions>;
  readonly tenants: Client<typeof TenantServiceService, CallOptions>;
}

export function createWebhookClients(channel: Channel): WebhookClients {
  return {
    webhooks: createClient(WebhookServiceService, channel),
    retention: createClient(RetentionServiceService, channel),
    tenants: createClient(TenantServiceService, channel),
  };
}
