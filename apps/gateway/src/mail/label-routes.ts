import { z } from 'zod';
import { CreateLabel, LabelRecord, UpdateLabel } from '@dak/contracts/api';
import { CreateLabelRequest, UpdateLabelRequest } from '@dak/contracts/mail';
import { messageOf, sentFields } from '@dak/contracts/requests';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';

const changes = { tag: 'labels' } as const;

const label = LabelRecord.meta({ id: 'Label' });

export function labelRoutes({ labels }: Pick<MailClients, 'labels'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/labels',
      tag: 'labels',
      summary: 'List labels',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of labels, by name', schema: pageOf(label) } },
      handler: (context) =>
        servicePage(context, (page) => labels.listLabels({ page }, context.call)),
    }),
    defineRoute({
      ...changes,
      method: 'POST',
      path: '/labels',
      summary: 'Create a label',
      request: { body: CreateLabel },
      responses: { 201: { description: 'The label', schema: label } },
      handler: async ({ body, call }) => {
        const request = messageOf(CreateLabelRequest, body);
        return documentReply(201, await labels.createLabel(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'PATCH',
      path: '/labels/{id}',
      summary: 'Update a label',
      description: 'Renaming a label also renames it on every conversation that has it.',
      request: { params: idParams, body: UpdateLabel },
      responses: { 200: { description: 'The label', schema: label } },
      emits: ['conversation.updated'],
      handler: async ({ params, body, call }) => {
        const request = messageOf(UpdateLabelRequest, body, {
          id: params.id,
          fields: sentFields(UpdateLabel.shape, body),
        });
        return documentReply(200, await labels.updateLabel(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'DELETE',
      path: '/labels/{id}',
      summary: 'Delete a label',
      description: 'Also removes the label from every conversation that has it.',
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
