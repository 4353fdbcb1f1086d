import { z } from 'zod';
import { CreateDomain, DomainRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePageReply, toPageRequest } from '../http/service-page';
import type { MailClients } from './mail-clients';

const common = { tag: 'domains' } as const;

const domain = DomainRecord.meta({ id: 'Domain' });

export function domainRoutes({ domains }: Pick<MailClients, 'domains'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/domains',
      summary: 'List domains',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of domains, by name', schema: pageOf(domain) } },
      handler: async ({ query, call, url }) =>
        servicePageReply(
          url,
          query,
          await domains.listDomains({ page: toPageRequest(query) }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/domains',
      summary: 'Add a domain',
      description:
        'It is pending, and holds nothing, until its TXT record is seen: make the record, then verify.',
      request: { body: CreateDomain },
      responses: { 201: { description: 'The domain with the record to make', schema: domain } },
      handler: async ({ body, call }) =>
        documentReply(201, await domains.createDomain({ name: body.name }, call)),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/domains/{id}',
      summary: 'Get a domain',
      request: { params: idParams },
      responses: { 200: { description: 'The domain', schema: domain } },
      handler: async ({ params, call }) =>
        documentReply(200, await domains.getDomain({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/domains/{id}',
      summary: 'Delete a domain',
      description: 'Refused while there are mailboxes in it. Whoever verifies it next owns it.',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, call }) => {
        await domains.deleteDomain({ id: params.id }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/domains/{id}/verify',
      summary: 'Verify a domain',
      description:
        'Asks the name servers now. The first organization whose record is seen owns the domain.',
      request: { params: idParams },
      responses: { 200: { description: 'The domain with what was found', schema: domain } },
      emits: ['domain.verified'],
      handler: async ({ params, call }) =>
        documentReply(200, await domains.verifyDomain({ id: params.id }, call)),
    }),
  ];
}
