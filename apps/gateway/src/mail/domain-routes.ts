import { z } from 'zod';
import { CreateDomain, DomainRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
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
      handler: (context) =>
        servicePage(context, (page) => domains.listDomains({ page }, context.call)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/domains',
      summary: 'Add a domain',
      description:
        'The domain stays pending, and receives no mail, until its TXT record is found: create the record, then verify.',
      request: { body: CreateDomain },
      responses: {
        201: { description: 'The domain and the DNS record to create', schema: domain },
      },
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
      description:
        'Refused while the domain has mailboxes. The next organization to verify it owns it.',
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
        'Queries the name servers now. The first organization whose record is found owns the domain.',
      request: { params: idParams },
      responses: { 200: { description: 'The domain and what was found', schema: domain } },
      emits: ['domain.verified'],
      handler: async ({ params, call }) =>
        documentReply(200, await domains.verifyDomain({ id: params.id }, call)),
    }),
  ];
}
