import { z } from 'zod';
import { CreateSignature, SignatureRecord, UpdateSignature } from '@dak/contracts/api';
import { CreateSignatureRequest, UpdateSignatureRequest } from '@dak/contracts/mail';
import { messageOf, sentFields } from '@dak/contracts/requests';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { created } from './submission-routes';

const common = { tag: 'signatures' } as const;

export function signatureRoutes({ signatures }: Pick<MailClients, 'signatures'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/signatures',
      summary: 'List signatures',
      request: { query: z.object(pageFields) },
      responses: {
        200: { description: 'A page of signatures', schema: pageOf(SignatureRecord) },
      },
      handler: (context) =>
        servicePage(context, (page) => signatures.listSignatures({ page }, context.call)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/signatures',
      summary: 'Create a signature',
      request: { body: CreateSignature },
      responses: { 201: { description: 'The signature', schema: SignatureRecord } },
      handler: async ({ body, call }) =>
        created(await signatures.createSignature(messageOf(CreateSignatureRequest, body), call)),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/signatures/{id}',
      summary: 'Update a signature',
      request: { params: idParams, body: UpdateSignature },
      responses: { 200: { description: 'The signature', schema: SignatureRecord } },
      handler: async ({ params, body, call }) => {
        const fields = sentFields(UpdateSignature.shape, body);
        const request = messageOf(UpdateSignatureRequest, body, { id: params.id, fields });
        const { json } = await signatures.updateSignature(request, call);
        return { status: 200, json };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/signatures/{id}',
      summary: 'Delete a signature',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, call }) => {
        await signatures.deleteSignature({ id: params.id }, call);
        return { status: 204 };
      },
    }),
  ];
}
