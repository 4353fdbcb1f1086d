import { z } from 'zod';
import { defineRoute, pageFields, pageOf, pageReply, queryTime, type Route } from '../http';
import { listAudit, type AuditParts } from './list-audit';
import { verifyAudit } from './verify-audit';

const OUTCOMES = ['attempted', 'succeeded', 'refused', 'failed'] as const;

const AuditRecord = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor: z.object({
      type: z.enum(['user', 'api_key', 'system', 'anonymous']),
      id: z.string().nullable(),
      name: z.string(),
    }),
    action: z.string(),
    target: z.object({ type: z.string(), id: z.string().nullable() }),
    outcome: z.enum(OUTCOMES),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()),
    hash: z.string().meta({ description: 'sha256 over the entry and previous_hash' }),
    previous_hash: z.string(),
  })
  .meta({ id: 'AuditEntry' });

/** @param settled resolves when earlier changes are in the log */
export function auditRoutes(parts: AuditParts, settled: () => Promise<void>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/audit',
      summary: 'List audit entries, newest first',
      description:
        'Every change of settings, people, keys, mailboxes, rules, templates, labels, signatures, domains and webhooks, and every export. What happens to a conversation is in its activity.',
      tag: 'audit',
      request: {
        query: z.object({
          ...pageFields,
          action: z
            .string()
            .max(100)
            .optional()
            .meta({ examples: ['api_key.revoked'] }),
          actor: z.string().max(100).optional().meta({ description: 'Id of a user or key' }),
          target: z.string().max(100).optional().meta({ description: 'Id of what was changed' }),
          outcome: z.enum(OUTCOMES).optional(),
          from: queryTime().optional(),
          to: queryTime().optional().meta({ description: 'Exclusive' }),
        }),
      },
      responses: { 200: { description: 'A page of entries', schema: pageOf(AuditRecord) } },
      handler: async ({ principal, query, url }) => {
        if (query.cursor === undefined) await settled();
        return pageReply(url, await listAudit(parts, principal, query));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/audit/verify',
      summary: 'Verify the audit log',
      tag: 'audit',
      timeoutMs: 120_000,
      responses: {
        200: {
          description: 'Whether every entry and its place in the chain are as they were written',
          schema: z.object({
            valid: z.boolean(),
            checked: z.int(),
            first_bad_id: z
              .uuid()
              .nullable()
              .meta({ description: 'Null also when entries are missing at the end' }),
          }),
        },
      },
      handler: async ({ principal }) => {
        const verdict = await verifyAudit(parts.store.database, principal.organizationId);
        return {
          status: 200,
          body: {
            valid: verdict.valid,
            checked: verdict.checked,
            first_bad_id: verdict.firstBadId,
          },
        };
      },
    }),
  ];
}
