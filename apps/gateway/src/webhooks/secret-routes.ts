import { ChangeWebhookSecret, WebhookSecretRecord, WebhookSecretState } from '@dak/contracts/api';
import { defineRoute, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import type { WebhookClients } from './webhook-clients';

const settings = {
  tag: 'webhooks',
  path: '/settings/webhook-secret',
} as const;

/** The secret that all webhooks of the organization without one of their own are signed with. */
export function secretRoutes({ webhooks }: Pick<WebhookClients, 'webhooks'>): Route[] {
  return [
    defineRoute({
      ...settings,
      method: 'GET',
      summary: 'Get webhook secret status',
      responses: {
        200: {
          description: 'Its state',
          schema: WebhookSecretState.meta({ id: 'WebhookSecretState' }),
        },
      },
      handler: async ({ call }) => documentReply(200, await webhooks.getTenantSecret({}, call)),
    }),
    defineRoute({
      ...settings,
      method: 'PUT',
      summary: "Set the organization's webhook secret",
      description:
        'Shown in this response and never again. Until the overlap ends, requests carry signatures from both secrets, so receivers can switch over without losing an event.',
      request: { body: ChangeWebhookSecret },
      responses: {
        200: {
          description: 'The secret',
          schema: WebhookSecretRecord.meta({ id: 'WebhookSecret' }),
        },
      },
      handler: async (context) => {
        const { body, call } = context;
        const document = await webhooks.putTenantSecret(
          { secret: body.secret, overlapHours: body.overlap_hours },
          call,
        );
        return documentReply(200, document);
      },
    }),
  ];
}
