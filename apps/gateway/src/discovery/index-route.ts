import { z } from 'zod';
import { ROLES, SCOPES, seesWholeOrganization } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';
import { defineRoute, type Route } from '../http';
import { API_BASE } from '../http/route-table';

export interface IndexOptions {
  version: string;
  /** Mailboxes that a regular user sees; the mail service knows. */
  visibleMailboxIds: (call: CallOptions) => Promise<readonly string[]>;
}

const LINKS = {
  self: API_BASE,
  capabilities: `${API_BASE}/capabilities`,
  openapi: `${API_BASE}/openapi.json`,
  documentation: '/docs',
};

/** GET `/`: who the caller is and where to go from here. */
export function indexRoute(options: IndexOptions): Route {
  return defineRoute({
    method: 'GET',
    path: '/',
    summary: 'Get the API entry point and the current principal',
    tag: 'meta',
    responses: {
      200: {
        description: 'The caller as the API sees them',
        schema: z
          .object({
            name: z.string(),
            version: z.string(),
            principal: z.object({
              type: z.enum(['api_key', 'session']),
              organization_id: z.uuid(),
              user_id: z.uuid(),
              user_name: z.string(),
              role: z.enum(ROLES),
              scopes: z.array(z.enum(SCOPES)),
              credential_id: z.uuid(),
              department_ids: z.array(z.uuid()),
              mailbox_ids: z
                .array(z.uuid())
                .nullable()
                .meta({ description: 'null = the whole organization' }),
            }),
            links: z.record(z.string(), z.string()),
          })
          .meta({ id: 'Index' }),
      },
    },
    handler: async ({ principal, call }) => ({
      status: 200,
      body: {
        name: 'Dak',
        version: options.version,
        principal: {
          type: principal.type,
          organization_id: principal.organizationId,
          user_id: principal.userId,
          user_name: principal.userName,
          role: principal.role,
          scopes: principal.scopes,
          credential_id: principal.credentialId,
          department_ids: principal.departmentIds,
          mailbox_ids: seesWholeOrganization(principal)
            ? null
            : await options.visibleMailboxIds(call),
        },
        links: LINKS,
      },
    }),
  });
}
