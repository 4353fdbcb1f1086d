import { z } from 'zod';
import {
  ChangeWebhookSecret,
  CreatedWebhookRecord,
  CreateWebhook,
  TestWebhook,
  UpdateWebhook,
  WebhookDeliveryRecord,
  WebhookRecord,
  WebhookSecretRecord,
} from '@dak/contracts/api';
import { messageOf, sentFields } from '@dak/contracts/requests';
import { CreateEndpointRequest, UpdateEndpointRequest } from '@dak/contracts/webhook';
import { InvalidError } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';
import type { RouteParts } from '../backend/backend';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { WebhookClients } from './webhook-clients';

const common = { tag: 'webhooks' } as const;

const webhook = WebhookRecord.meta({ id: 'Webhook' });
const created = CreatedWebhookRecord.meta({ id: 'CreatedWebhook' });
const secret = WebhookSecretRecord.meta({ id: 'WebhookSecret' });
const delivery = WebhookDeliveryRecord.meta({ id: 'WebhookDelivery' });

/** Webhooks: a regular user has their own, an admin all of the organization. */
export function endpointRoutes(
  { webhooks }: Pick<WebhookClients, 'webhooks'>,
  { seesMailbox }: Pick<RouteParts, 'seesMailbox'>,
): Route[] {
  /** Mailboxes the caller cannot see are reported like nonexistent ones. */
  const requireVisible = async (ids: readonly string[] = [], call: CallOptions): Promise<void> => {
    const isSeen = await Promise.all(
      ids.map((id) => seesMailbox(id, { ...call, isRead: true, idempotency: undefined })),
    );
    const index = isSeen.indexOf(false);
    if (index < 0) return;
    throw new InvalidError(
      `mailbox_ids[${index}] is not a mailbox that you see: GET /mailboxes lists them.`,
    );
  };

  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks',
      summary: 'List webhooks',
      description: 'Regular users see their own; admins see all of the organization’s.',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of webhooks', schema: pageOf(webhook) } },
      handler: (context) =>
        servicePage(context, (page) => webhooks.listEndpoints({ page }, context.call)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/webhooks',
      summary: 'Create a webhook',
      description:
        'From now on, events you may see are sent to the URL, signed according to Standard Webhooks. They are signed with the organization’s secret unless own_secret is true. That secret is created with the first webhook; admins obtain one by replacing it with PUT /settings/webhook-secret.',
      request: { body: CreateWebhook },
      responses: { 201: { description: 'The webhook', schema: created } },
      handler: async (context) => {
        const { body, call } = context;
        await requireVisible(body.mailbox_ids, call);
        // Names of headers are data, not fields.
        const { headers, ...settings } = body;
        const request = messageOf(CreateEndpointRequest, settings, { headers });
        const document = await webhooks.createEndpoint(request, call);
        return {
          ...documentReply(201, document),
          headers: { Location: `/api/v1/webhooks/${document.id}` },
        };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks/{id}',
      summary: 'Get a webhook',
      request: { params: idParams },
      responses: { 200: { description: 'The webhook', schema: webhook } },
      handler: async ({ params, call }) =>
        documentReply(200, await webhooks.getEndpoint({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/webhooks/{id}',
      summary: 'Update a webhook',
      description:
        'headers replaces all headers. enabled: true also re-enables a webhook that Dak has disabled; a replay sends what was missed.',
      versioned: true,
      request: { params: idParams, body: UpdateWebhook },
      responses: { 200: { description: 'The webhook', schema: webhook } },
      handler: async (context) => {
        const { params, body, ifMatch, call } = context;
        await requireVisible(body.mailbox_ids, call);
        const { headers = {}, ...settings } = body;
        const request = messageOf(UpdateEndpointRequest, settings, {
          headers,
          id: params.id,
          version: ifMatch ?? undefined,
          fields: sentFields(UpdateWebhook.shape, body),
        });
        return documentReply(200, await webhooks.updateEndpoint(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/webhooks/{id}',
      summary: 'Delete a webhook',
      description: 'Also deletes its deliveries; pending ones are not sent.',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async (context) => {
        const { params, call } = context;
        await webhooks.deleteEndpoint({ id: params.id }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/webhooks/{id}/rotate-secret',
      summary: 'Rotate a webhook secret',
      description:
        'Shown in this response and never again. Until the overlap ends, requests carry signatures from both secrets.',
      request: { params: idParams, body: ChangeWebhookSecret },
      responses: { 200: { description: 'The secret', schema: secret } },
      handler: async (context) => {
        const { params, body, call } = context;
        const document = await webhooks.rotateSecret(
          { id: params.id, secret: body.secret, overlapHours: body.overlap_hours },
          call,
        );
        return documentReply(200, document);
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/webhooks/{id}/test',
      summary: 'Send a test event to a webhook',
      request: { params: idParams, body: TestWebhook },
      responses: { 202: { description: 'The delivery, under way', schema: delivery } },
      handler: async ({ params, body, call }) =>
        documentReply(
          202,
          await webhooks.sendTest({ id: params.id, eventType: body.event_type }, call),
        ),
    }),
  ];
}
