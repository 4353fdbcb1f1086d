import { z } from 'zod';
import { LabelRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { sentFields } from '@dak/contracts/requests';
import { servicePageReply, toPageRequest } from '../http/service-page';
import type { MailClients } from './mail-clients';

const changes = { tag: 'labels' } as const;

const label = LabelRecord.meta({ id: 'Label' });

const createBody = z
  .object({
    name: z
      .string()
      .min(1)
      .max(63)
      .meta({
        description: 'Lower-case letters, digits and . _ : - in it.',
        examples: ['billing'],
      }),
    color: z
      .string()
      .max(7)
      .nullable()
      .optional()
      .meta({ examples: ['#1a2b3c'] }),
    description: z.string().max(500).nullable().optional(),
  })
  .meta({ id: 'CreateLabel' });
const updateBody = createBody.partial().meta({ id: 'UpdateLabel' });

export function labelRoutes({ labels }: Pick<MailClients, 'labels'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/labels',
      tag: 'labels',
      summary: 'List labels',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of labels, by name', schema: pageOf(label) } },
      handler: async ({ query, call, url }) =>
        servicePageReply(url, query, await labels.listLabels({ page: toPageRequest(query) }, call)),
    }),
    defineRoute({
      ...changes,
      method: 'POST',
      path: '/labels',
      summary: 'Create a label',
      request: { body: createBody },
      responses: { 201: { description: 'The label', schema: label } },
      handler: async ({ body, call }) => {
        const request = {
          name: body.name,
          color: body.color ?? undefined,
          description: body.description ?? undefined,
        };
        return documentReply(201, await labels.createLabel(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'PATCH',
      path: '/labels/{id}',
      summary: 'Update a label',
      description: 'A new name is given to the conversations that have the old one.',
      request: { params: idParams, body: updateBody },
      responses: { 200: { description: 'The label', schema: label } },
      emits: ['conversation.updated'],
      handler: async ({ params, body, call }) => {
        const request = {
          id: params.id,
          fields: sentFields(updateBody.shape, body),
          name: body.name,
          color: body.color ?? undefined,
          description: body.description ?? undefined,
        };
        return documentReply(200, await labels.updateLabel(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'DELETE',
      path: '/labels/{id}',
      summary: 'Delete a label',
      description: 'It is taken from the conversations that have it.',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      emits: ['conversation.updated'],
      handler: async ({ params, call }) => {
        await labels.deleteLabel({ id: params.id }, call);
        return { status: 204 };
      },
    }),
  ];
}
