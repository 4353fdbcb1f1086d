import type { Principal } from '@dak/kernel';
import {
  decodeCursor,
  encodeCursor,
  EXACT_TOTAL_LIMIT,
  pageRequest,
  toPage,
  type Page,
} from '@dak/platform/paging';
import type { GatewayStore } from '../database/gateway-store';
import type { PageQuery } from '../http/service-page';
import {
  countStatement,
  pageStatement,
  toAuditRow,
  type AuditFilter,
  type AuditRow,
} from './audit-store';

/** What reading the log needs of the gateway. */
export interface AuditParts {
  readonly store: GatewayStore;
  /** Entries that follow an answer are written first. */
  readonly afterAnswers: { flush(): Promise<void> };
  readonly secrets: { readonly cursor: Uint8Array };
}

export interface AuditQuery extends PageQuery {
  action?: string | undefined;
  actor?: string | undefined;
  target?: string | undefined;
  outcome?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** Newest first. Admins see the organization's entries, a user their own. */
export async function listAudit(
  parts: AuditParts,
  principal: Principal,
  query: AuditQuery,
): Promise<Page<ReturnType<typeof toRecord>>> {
  await parts.afterAnswers.flush();
  const { organizationId } = principal;
  const request = pageRequest(query);
  const filter: AuditFilter = {
    action: query.action ?? null,
    actor: query.actor ?? null,
    target: query.target ?? null,
    outcome: query.outcome ?? null,
    from: query.from ?? null,
    to: query.to ?? null,
    visibleActors: principal.role === 'user' ? [principal.userId, principal.credentialId] : null,
  };
  const scope = { organizationId, list: 'audit', filter: { ...filter } };
  const before =
    request.cursor === null
      ? null
      : Number(decodeCursor(parts.secrets.cursor, scope, request.cursor)[0]);
  const offset = before === null ? (request.page - 1) * request.perPage : 0;
  const [rows, counts] = await parts.store.database.batchInTenant(organizationId, [
    pageStatement(organizationId, filter, before, request.perPage + 1, offset),
    countStatement(organizationId, filter, EXACT_TOTAL_LIMIT + 1),
  ]);
  const entries = rows!.map((row) => toAuditRow(organizationId, row));
  const shown = entries.slice(0, request.perPage);
  const last = shown.at(-1);
  const next =
    entries.length > request.perPage && last !== undefined
      ? encodeCursor(parts.secrets.cursor, scope, [last.sequence])
      : null;
  return toPage(request, shown.map(toRecord), Number(counts![0]!['total']), next);
}

function toRecord(row: AuditRow) {
  return {
    id: row.id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    request_id: row.requestId,
    details: row.details,
    hash: row.hash,
    previous_hash: row.previousHash,
  };
}
