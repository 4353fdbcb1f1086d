import { z } from 'zod';
import { MoveOutboxEntry, OutboxEntryRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';

const common = { tag: 'outbox' } as const;

export function outboxRoutes({ submissions }: Pick<MailClients, 'submissions'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/outbox',
      summary: 'List outgoing mail',
      request: {
        query: z.object({
          ...pageFields,
          mailbox: z.uuid().optional(),
          status: z.string().max(200).optional().meta({
            description:
              'One or more statuses, separated by commas, or `all`. Default: mail that is not finished yet.',
          }),
        }),
      },
      responses: {
        200: {
          description: 'A page of outbox entries, newest first',
          schema: pageOf(OutboxEntryRecord),
        },
      },
      handler: ({ query, call, url }) =>
        servicePage({ query, url }, (page) =>
          submissions.listOutbox(
            {
              page,
              mailboxId: query.mailbox,
              status: query.status,
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/outbox/{id}',
      summary: 'Get an outbox entry',
      request: { params: idParams },
      responses: { 200: { description: 'The entry', schema: OutboxEntryRecord } },
      handler: async ({ params, call }) => {
        const { json } = await submissions.getOutboxEntry({ id: params.id }, call);
        return { status: 200, json };
      },
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/outbox/{id}',
      summary: 'Reschedule outgoing mail',
      description: 'send_at null sends it now.',
      unknownFields: 'refuse',
      request: { params: idParams, body: MoveOutboxEntry },
      responses: { 200: { description: 'The entry', schema: OutboxEntryRecord } },
      emits: ['conversation.updated'],
      handler: async ({ params, body, call }) => {
        const request = { id: params.id, sendAt: body.send_at ?? undefined };
        const { json } = await submissions.moveOutboxEntry(request, call);
        return { status: 200, json };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/outbox/{id}',
      summary: 'Cancel a submission',
      request: { params: idParams },
      responses: { 204: { description: 'Canceled' } },
      emits: ['conversation.updated'],
      handler: async ({ params, call }) => {
        await submissions.cancelOutboxEntry({ id: params.id }, call);
        return { status: 204 };
      },
    }),
  ];
}
