import type { ListRulesRequest, ListRuleVersionsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { loadRule, ownerFilter } from './load-rule';
import { ruleRecord, ruleVersionRecord } from './render-rule';
import type { RuleDeps } from './rule-deps';
import { selectRulePage, selectRuleVersions } from './rule-store';

type ListDeps = Pick<RuleDeps, 'database' | 'cursorKey'>;

/** In the order in which they run; a regular user has their own. */
export async function listRules(
  { database, cursorKey }: ListDeps,
  request: ListRulesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const owner = ownerFilter(principal);
  const scope = { organizationId, list: 'rules', filter: { owner } };
  const window = pageWindow(cursorKey, scope, request.page);
  const { rows, total } = await database.inTenant(organizationId, (tx) =>
    selectRulePage(tx, organizationId, owner, {
      after: window.after,
      offset: window.offset,
      limit: window.perPage + 1,
    }),
  );
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(ruleRecord)),
    ({ rule }) => [rule.priority, rule.created_at, rule.id],
  );
}

/** Newest first. @throws NotFoundError */
export async function listRuleVersions(
  { database, cursorKey }: ListDeps,
  request: ListRuleVersionsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const { ruleId } = request;
  const scope = { organizationId, list: 'rule-versions', filter: { ruleId } };
  const window = pageWindow(cursorKey, scope, request.page);
  const { rows, total } = await database.inTenant(organizationId, async (tx) => {
    const { rule } = await loadRule(tx, principal, ruleId);
    const rows = await selectRuleVersions(tx, organizationId, rule.id, {
      before: window.after === null ? null : Number(window.after[0]),
      offset: window.offset,
      limit: window.perPage + 1,
    });
    return { rows, total: rule.version };
  });
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(ruleVersionRecord)),
    (row) => [row.version],
  );
}
