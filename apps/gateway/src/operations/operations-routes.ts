import { z } from 'zod';
import { defineRoute, type Route } from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import { SWITCH_STATES } from '../identity/records';
import { changeOperations, readOperations } from './switches';

const platform = { tag: 'platform' } as const;

const switchState = z.enum(SWITCH_STATES);

export const OperationsRecord = z
  .object({
    outgoing: switchState.meta({ description: 'hold: outgoing mail of all organizations waits' }),
    webhooks: switchState.meta({ description: 'hold: webhooks of all organizations wait' }),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Operations' });

export const changeOperationsBody = z
  .object({ outgoing: switchState.optional(), webhooks: switchState.optional() })
  .meta({ id: 'ChangeOperations' });

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
        'Holds within seconds, on every replica and over restarts. What is accepted meanwhile waits; nothing is lost or sent twice. `run` lets it go on.',
      unknownFields: 'refuse',
      request: { body: changeOperationsBody },
      responses,
      handler: (context) => changeOperations(parts, context, context.body),
    }),
  ];
}
