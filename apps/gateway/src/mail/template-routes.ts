import { z } from 'zod';
import {
  CreateTemplate,
  PreviewTemplate,
  TemplatePreviewRecord,
  TemplateRecord,
  TemplateVersionRecord,
  UpdateTemplate,
} from '@dak/contracts/api';
import { PreviewTemplateRequest, TemplateContent } from '@dak/contracts/mail';
import { messageOf, sentFields } from '@dak/contracts/requests';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { created } from './submission-routes';

const common = { tag: 'templates' } as const;
const template = { 200: { description: 'The template', schema: TemplateRecord } };

const versionParams = z.object({
  id: z.uuid(),
  version: z.coerce.number().int().min(1).max(2_000_000_000),
});

const SYNTAX =
  '{{name}} is a value, escaped in HTML. {{#name}}…{{/name}} shows for a value that is there and repeats for each item of a list ({{.}}, or {{field}} of an item that is an object), {{^name}}…{{/name}} for one that is not. Dates are written as they are given.';

export function templateRoutes({ templates }: Pick<MailClients, 'templates'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/templates',
      summary: 'List templates',
      request: { query: z.object({ ...pageFields, alias: z.string().max(63).optional() }) },
      responses: {
        200: { description: 'A page of templates', schema: pageOf(TemplateRecord) },
      },
      handler: ({ query, call, url }) =>
        servicePage({ query, url }, (page) =>
          templates.listTemplates({ page, alias: query.alias }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/templates',
      summary: 'Create a template',
      description: SYNTAX,
      request: { body: CreateTemplate },
      responses: { 201: { description: 'The template', schema: TemplateRecord } },
      handler: async ({ body, call }) =>
        created(
          await templates.createTemplate({ content: messageOf(TemplateContent, body) }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/templates/{id}',
      summary: 'Get a template',
      request: { params: idParams },
      responses: template,
      handler: async ({ params, call }) =>
        documentReply(200, await templates.getTemplate({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/templates/{id}',
      summary: 'Update a template',
      description: 'Creates a new version; earlier versions stay unchanged.',
      versioned: true,
      request: { params: idParams, body: UpdateTemplate },
      responses: template,
      handler: async ({ params, body, ifMatch, call }) => {
        const request = {
          id: params.id,
          expectedVersion: ifMatch ?? undefined,
          fields: sentFields(UpdateTemplate.shape, body),
          content: messageOf(TemplateContent, body),
        };
        return documentReply(200, await templates.updateTemplate(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/templates/{id}',
      summary: 'Delete a template',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, call }) => {
        await templates.deleteTemplate({ id: params.id }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/templates/{id}/preview',
      summary: 'Render a template',
      idempotency: 'none',
      request: { params: idParams, body: PreviewTemplate },
      responses: {
        200: {
          description: 'The mail as it would be composed composed',
          schema: TemplatePreviewRecord,
        },
      },
      handler: async ({ params, body, call }) => {
        const request = messageOf(PreviewTemplateRequest, body, { id: params.id });
        const { json } = await templates.previewTemplate(request, call);
        return { status: 200, json };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/templates/{id}/versions',
      summary: 'List template versions',
      request: { params: idParams, query: z.object(pageFields) },
      responses: {
        200: {
          description: 'A page of versions, newest first',
          schema: pageOf(TemplateVersionRecord),
        },
      },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          templates.listTemplateVersions({ id: params.id, page }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/templates/{id}/versions/{version}',
      summary: 'Get a template version',
      request: { params: versionParams },
      responses: { 200: { description: 'The version', schema: TemplateVersionRecord } },
      handler: async ({ params, call }) =>
        documentReply(200, await templates.getTemplateVersion(params, call)),
    }),
  ];
}
