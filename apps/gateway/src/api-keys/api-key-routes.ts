import { z } from 'zod';
import { ApiKeyRecord, CreateApiKey, CreatedApiKeyRecord } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, pageReply, type Route } from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import { createApiKey } from './create-api-key';
import { getApiKey, listApiKeys } from './list-api-keys';
import { revokeApiKey } from './revoke-api-key';

const common = {
  tag: 'api-keys',
} as const;

export function apiKeyRoutes(parts: IdentityParts): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/settings/api-keys',
      summary: 'List API keys',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of keys', schema: pageOf(ApiKeyRecord) } },
      handler: async ({ principal, query, url }) =>
        pageReply(url, await listApiKeys(parts, principal, query)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/settings/api-keys',
      summary: 'Create an API key',
      description:
        'The key has the role and mailboxes of the user who creates it, restricted to these scopes. A key created with an API key expires no later than that key and is revoked together with it.',
      idempotency: 'gateway',
      request: { body: CreateApiKey },
      responses: {
        201: {
          description: 'The API key; its full value is shown only here',
          schema: CreatedApiKeyRecord,
        },
      },
      handler: (context) => createApiKey(parts, context, context.body),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/settings/api-keys/{id}',
      summary: 'Get an API key',
      request: { params: idParams },
      responses: {
        200: { description: 'The API key without its secret value', schema: ApiKeyRecord },
      },
      handler: async ({ principal, params }) => ({
        status: 200,
        body: await getApiKey(parts, principal, params.id),
      }),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/settings/api-keys/{id}',
      summary: 'Revoke an API key',
      request: { params: idParams },
      responses: {
        204: {
          description:
            'Revoked; the key and every key created with it stop working with the next request',
        },
      },
      handler: (context) => revokeApiKey(parts, context, context.params.id),
    }),
  ];
}
