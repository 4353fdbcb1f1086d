import { z } from 'zod';
import {
  DELIVERY_STATES,
  ReplayWebhook,
  WebhookAttemptRecord,
  WebhookDeliveryDetail,
  WebhookDeliveryRecord,
  WebhookReplayRecord,
} from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, queryTime, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { WebhookClients } from './webhook-clients';

const common = { tag: 'webhooks' } as const;

const delivery = WebhookDeliveryRecord.meta({ id: 'WebhookDelivery' });
const detail = WebhookDeliveryDetail.meta({ id: 'WebhookDeliveryDetail' });
const attempt = WebhookAttemptRecord.meta({ id: 'WebhookAttempt' });
const replay = WebhookReplayRecord.meta({ id: 'WebhookReplay' });

const deliveryParams = z.object({ id: z.uuid(), did: z.uuid() });
const replayParams = z.object({ id: z.uuid(), rid: z.uuid() });

const listQuery = z.object({
  ...pageFields,
  state: z
    .string()
    .max(200)
    .optional()
    .meta({
      description: `${DELIVERY_STATES.join(', ')}, or a comma list of these.`,
    }),
  type: z
    .string()
    .max(400)
    .optional()
    .meta({ description: 'One or more event types, separated by commas.' }),
  since: queryTime().optional().meta({ description: 'Events at or after this time.' }),
  until: queryTime().optional().meta({ description: 'Events before this time.' }),
});

/** Deliveries of a webhook, and sending them again. */
export function deliveryRoutes({ webhooks }: Pick<WebhookClients, 'webhooks'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks/{id}/deliveries',
      summary: 'List webhook deliveries',
      description: 'Newest first.',
      request: { params: idParams, query: listQuery },
      responses: { 200: { description: 'A page of deliveries', schema: pageOf(delivery) } },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          webhooks.listDeliveries(
            {
              endpointId: params.id,
              page,
              states: listed(query.state),
              eventTypes: listed(query.type),
              since: dateOf(query.since),
              until: dateOf(query.until),
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks/{id}/deliveries/{did}',
      summary: 'Get a delivery with its payload',
      description:
        'body describes mail, so it also requires the scope mail.read; without it, body is null. Returns 404 if the caller may no longer read the event’s conversation.',
      request: { params: deliveryParams },
      responses: { 200: { description: 'The delivery and its body', schema: detail } },
      handler: async ({ params, call }) => {
        const request = { endpointId: params.id, id: params.did };
        return documentReply(200, await webhooks.getDelivery(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks/{id}/deliveries/{did}/attempts',
      summary: 'List delivery attempts',
      description: 'Oldest first.',
      request: { params: deliveryParams, query: z.object(pageFields) },
      responses: { 200: { description: 'A page of attempts', schema: pageOf(attempt) } },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          webhooks.listAttempts(
            {
              endpointId: params.id,
              deliveryId: params.did,
              page,
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/webhooks/{id}/deliveries/{did}/retry',
      summary: 'Retry a delivery now',
      description:
        'Creates a new delivery with the same webhook-id; the original delivery keeps its retry schedule.',
      request: { params: deliveryParams },
      responses: { 202: { description: 'The new delivery', schema: delivery } },
      handler: async (context) => {
        const { params, call } = context;
        const request = { endpointId: params.id, id: params.did };
        const document = await webhooks.retryDelivery(request, call);
        return documentReply(202, document);
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/webhooks/{id}/replay',
      summary: 'Replay events of a period',
      description:
        'Runs as a background job; poll GET …/replays/{rid} for its progress. Replayed events keep their webhook-id, so a receiver that deduplicates by it sees no duplicates.',
      request: { params: idParams, body: ReplayWebhook },
      responses: { 202: { description: 'The replay', schema: replay } },
      handler: async (context) => {
        const { params, body, call } = context;
        const document = await webhooks.startReplay(
          {
            endpointId: params.id,
            since: new Date(body.since),
            until: dateOf(body.until),
            eventTypes: body.types,
            onlyFailed: body.only_failed,
          },
          call,
        );
        return documentReply(202, document);
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/webhooks/{id}/replays/{rid}',
      summary: 'Get replay status',
      request: { params: replayParams },
      responses: { 200: { description: 'The replay', schema: replay } },
      handler: async ({ params, call }) => {
        const request = { endpointId: params.id, id: params.rid };
        return documentReply(200, await webhooks.getReplay(request, call));
      },
    }),
  ];
}

function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'all');
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
