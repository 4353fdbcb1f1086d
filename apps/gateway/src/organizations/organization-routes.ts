import { z } from 'zod';
import {
  AdministerOrganization,
  CreatedOrganizationRecord,
  CreateOrganization,
  ListOrganizations,
  OrganizationRecord,
  OwnedDomainsRecord,
  PutDomains,
  UpdateOrganization,
} from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, pageReply, type Route } from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import { createOrganization } from './create-organization';
import { getAnyOrganization, getOwnOrganization, listOrganizations } from './list-organizations';
import { putOrganizationDomains } from './put-domains';
import { administerOrganization, updateOrganization } from './update-organization';

const settings = {
  tag: 'organization',
  path: '/settings/organization',
  responses: { 200: { description: 'The organization', schema: OrganizationRecord } },
} as const;

const platform = { tag: 'platform' } as const;

export function organizationRoutes(parts: IdentityParts): Route[] {
  return [
    defineRoute({
      ...settings,
      method: 'GET',
      summary: 'Get organization settings',
      handler: async ({ principal }) => {
        const organization = await getOwnOrganization(parts, principal);
        return { status: 200, body: organization, version: organization.version };
      },
    }),
    defineRoute({
      ...settings,
      method: 'PATCH',
      summary: 'Update organization settings',
      versioned: true,
      request: { body: UpdateOrganization },
      handler: (context) => updateOrganization(parts, context, context.body),
    }),
    defineRoute({
      ...platform,
      method: 'GET',
      path: '/admin/organizations',
      summary: 'List organizations',
      request: {
        query: z.object({ ...pageFields, ...ListOrganizations.shape }),
      },
      responses: {
        200: { description: 'A page of organizations', schema: pageOf(OrganizationRecord) },
      },
      handler: async ({ principal, query, url }) =>
        pageReply(url, await listOrganizations(parts, principal, query)),
    }),
    defineRoute({
      ...platform,
      method: 'POST',
      path: '/admin/organizations',
      summary: 'Create an organization and its first admin',
      description:
        'Without a password, the response contains an invite token for the admin. Domains are granted without a DNS check.',
      idempotency: 'gateway',
      request: { body: CreateOrganization },
      responses: { 201: { description: 'The organization', schema: CreatedOrganizationRecord } },
      handler: (context) => createOrganization(parts, context, context.body),
    }),
    defineRoute({
      ...platform,
      method: 'GET',
      path: '/admin/organizations/{id}',
      summary: 'Get an organization',
      request: { params: idParams },
      responses: { 200: { description: 'The organization', schema: OrganizationRecord } },
      handler: async ({ principal, params }) => {
        const organization = await getAnyOrganization(parts, principal, params.id);
        return { status: 200, body: organization, version: organization.version };
      },
    }),
    defineRoute({
      ...platform,
      method: 'PATCH',
      path: '/admin/organizations/{id}',
      summary: 'Update an organization',
      description:
        'While suspended, all credentials are refused (401), inbound mail is deferred (450) and outgoing mail waits until the organization is active again. ' +
        '`outgoing: hold` holds outgoing mail only. ' +
        'With storage_bytes full, inbound mail is deferred (452), and mail, uploads and imports are refused (storage_full).',
      versioned: true,
      request: { params: idParams, body: AdministerOrganization },
      responses: { 200: { description: 'The organization', schema: OrganizationRecord } },
      handler: (context) => administerOrganization(parts, context, context.params.id, context.body),
    }),
    defineRoute({
      ...platform,
      method: 'PUT',
      path: '/admin/organizations/{id}/domains',
      summary: "Replace an organization's domains",
      description:
        'Granted without a DNS check. The organization loses every domain not listed here: mail to it is refused (550) and none is sent from it. Pending domains stay pending.',
      request: { params: idParams, body: PutDomains },
      responses: { 200: { description: 'The domains', schema: OwnedDomainsRecord } },
      handler: (context) =>
        putOrganizationDomains(parts, context, context.params.id, context.body.domains),
    }),
  ];
}
