import { ChangeOperations, OperationsRecord } from '@dak/contracts/api';
import { defineRoute, type Route } from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import { changeOperations, readOperations } from './switches';

const platform = { tag: 'platform' } as const;

const responses = { 200: { description: 'The switches', schema: OperationsRecord } };

/** Stops mail and webhooks on their way out, and lets them go on. */
export function operationsRoutes(parts: IdentityParts): Route[] {
  return [
    defineRoute({
      ...platform,
      method: 'GET',
      path: '/admin/operations',
      summary: 'Get operational switches',
      responses,
      handler: async ({ principal }) => ({
        status: 200,
        body: await readOperations(parts, principal),
      }),
    }),
    defineRoute({
      ...platform,
      method: 'PATCH',
      path: '/admin/operations',
      summary: 'Update operational switches',
      description:
        'Takes effect within seconds on every replica and survives restarts. Whatever is accepted meanwhile waits; nothing is lost or sent twice. `run` resumes.',
      unknownFields: 'refuse',
      request: { body: ChangeOperations },
      responses,
      handler: (context) => changeOperations(parts, context, context.body),
    }),
  ];
}
