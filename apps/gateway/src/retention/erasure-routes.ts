import { setTimeout as delay } from 'node:timers/promises';
import { ConflictError, NotFoundError, RefusedError } from '@dak/kernel';
import { z } from 'zod';
import { nameShape } from '@dak/contracts/requests';
import { auditSource } from '../audit/audit-log';
import { defineRoute, idParams, type Route } from '../http';
import type { IdentityCaller } from '../identity/identity-caller';
import type { IdentityParts } from '../identity/identity-parts';
import { insertErasure, lockOrganization, selectErasure } from './erasure-store';

/** So long a request waits for the end of the erasure, which of a small organization comes at once. */
const PATIENCE_MS = 15_000;

const ErasureRecord = z
  .object({
    id: z.uuid().meta({ description: 'Of the organization' }),
    status: z.enum(['running', 'done']),
    requested_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
    rows: z.int().meta({ description: 'Removed so far' }),
    blobs: z.int(),
    bytes: z.int().meta({ description: 'Of the blobs' }),
  })
  .meta({ id: 'Erasure' });

const eraseBody = z
  .object({
    name: nameShape.meta({
      description: 'The organization’s name, to confirm it is the right one',
    }),
  })
  .meta({ id: 'EraseOrganization' });

export interface ErasureParts extends IdentityParts {
  /** Continues the requested erasure. */
  erase: (organizationId: string) => Promise<void>;
}

export function erasureRoutes(parts: ErasureParts): Route[] {
  const responses = { description: 'The erasure', schema: ErasureRecord };
  return [
    defineRoute({
      tag: 'platform',
      method: 'POST',
      path: '/admin/organizations/{id}/erase',
      summary: 'Erase an organization and all its data',
      description:
        'The organization must be suspended. Its mail, users, settings, events and audit log are permanently deleted; ' +
        'afterwards the organization returns 404. Runs in the background and resumes after a restart.',
      request: { params: idParams, body: eraseBody },
      responses: { 202: responses },
      handler: async (context) => {
        await requestErasure(parts, context, context.params.id, context.body.name);
        await Promise.race([
          parts.erase(context.params.id),
          delay(PATIENCE_MS, null, { ref: false }),
        ]);
        return { status: 202, body: await readErasure(parts, context, context.params.id) };
      },
    }),
    defineRoute({
      tag: 'platform',
      method: 'GET',
      path: '/admin/organizations/{id}/erase',
      summary: 'Get erasure status',
      request: { params: idParams },
      responses: { 200: responses },
      handler: async (context) => ({
        status: 200,
        body: await readErasure(parts, context, context.params.id),
      }),
    }),
  ];
}

async function requestErasure(
  parts: ErasureParts,
  caller: IdentityCaller,
  id: string,
  name: string,
): Promise<void> {
  const { principal, requestId } = caller;
  await parts.store.acrossTenants(principal.organizationId, async (tx) => {
    // Locked, so that it cannot be activated at the same time.
    const found = await lockOrganization(tx, id);
    if (found === null) throw new NotFoundError('organization');
    if ((await selectErasure(tx, id)) !== null) return;
    if (found.name !== name) {
      throw new RefusedError(
        'The name is not that of the organization: erase the one you mean.',
        'wrong_name',
      );
    }
    if (found.status !== 'suspended') {
      throw new ConflictError(
        'The organization is active. Suspend it first, and erase it when nobody misses it.',
        'organization_active',
      );
    }
    await insertErasure(tx, {
      id,
      requester_id: principal.userId,
      requester_name: principal.userName,
      requester_organization: principal.organizationId,
      request_id: requestId,
    });
    await parts.audit.record(tx, auditSource(caller), {
      action: 'organization.erased',
      target: { type: 'organization', id },
      outcome: 'attempted',
      details: { name },
    });
  });
}

async function readErasure(
  { store }: ErasureParts,
  { principal }: IdentityCaller,
  id: string,
): Promise<z.infer<typeof ErasureRecord>> {
  const row = await store.database.asWorker((tx) => selectErasure(tx, id));
  if (row === null || principal.role !== 'superadmin') throw new NotFoundError('erasure');
  return {
    id,
    status: row.finished_at === null ? 'running' : 'done',
    requested_at: row.requested_at,
    finished_at: row.finished_at,
    rows: row.rows_removed,
    blobs: row.blobs_removed,
    bytes: row.bytes_removed,
  };
}
