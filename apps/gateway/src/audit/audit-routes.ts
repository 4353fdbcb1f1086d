import { z } from 'zod';
import { AuditRecord, AuditVerdictRecord, ListAudit } from '@dak/contracts/api';
import { defineRoute, pageFields, pageOf, pageReply, type Route } from '../http';
import { listAudit, type AuditParts } from './list-audit';
import { verifyAudit } from './verify-audit';

/** @param settled resolves when earlier changes are in the log */
export function auditRoutes(parts: AuditParts, settled: () => Promise<void>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/audit',
      summary: 'List audit entries, newest first',
      description:
        'Every change to settings, users, API keys, mailboxes, rules, templates, labels, signatures, domains and webhooks, and every export. Changes to a conversation are listed in its activity.',
      tag: 'audit',
      request: {
        query: z.object({
          ...pageFields,
          ...ListAudit.shape,
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
          description: 'Whether every entry and the chain are unaltered',
          schema: AuditVerdictRecord,
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
