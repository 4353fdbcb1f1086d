import { z } from 'zod';
import { SignatureRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { created } from './submissions';

const common = { tag: 'signatures' } as const;

const createBody = z.object({
  name: z.string().min(1).max(100),
  body_html: z.string().optional(),
  body_text: z.string().optional(),
  mailbox_id: z.uuid().nullable().optional().meta({
    description: 'Absent or null: organization-wide, which requires brand.manage.',
  }),
  is_default: z.boolean().optional(),
});

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
      request: { body: createBody },
      responses: { 201: { description: 'The signature', schema: SignatureRecord } },
      handler: async ({ body, call }) =>
        created(
          await signatures.createSignature(
            {
              name: body.name,
              bodyHtml: body.body_html ?? '',
              bodyText: body.body_text ?? '',
              mailboxId: body.mailbox_id ?? undefined,
              isDefault: body.is_default ?? false,
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/signatures/{id}',
      summary: 'Update a signature',
      request: { params: idParams, body: createBody.partial() },
      responses: { 200: { description: 'The signature', schema: SignatureRecord } },
      handler: async ({ params, body, call }) => {
        const { json } = await signatures.updateSignature(
          {
            id: params.id,
            fields: Object.keys(body),
            name: body.name,
            bodyHtml: body.body_html,
            bodyText: body.body_text,
            mailboxId: body.mailbox_id ?? undefined,
            isDefault: body.is_default,
          },
          call,
        );
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
