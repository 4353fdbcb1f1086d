import type { ListRulesRequest, ListRuleVersionsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
import { loadRule, ownerFilter } from './load-rule';
import { ruleRecord, ruleVersionRecord } from './render-rule';
import type { RuleDeps } from './rule-deps';
import { selectRulePage, selectRuleVersions } from './rule-store';

type ListDeps = Pick<RuleDeps, 'database' | 'cursorKey'>;

/** In the order in which they run; a regular user has their own. */
export function listRules(
  { database, cursorKey }: ListDeps,
  request: ListRulesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const owner = ownerFilter(principal);
  return listPage(cursorKey, request.page, {
    scope: { organizationId, list: 'rules', filter: { owner } },
    select: (window) =>
      database.inTenant(organizationId, (tx) => selectRulePage(tx, organizationId, owner, window)),
    recordOf: ruleRecord,
    positionOf: ({ rule }) => [rule.priority, rule.created_at, rule.id],
  });
}

/** Newest first. @throws NotFoundError */
export function listRuleVersions(
  { database, cursorKey }: ListDeps,
  { ruleId, page }: ListRuleVersionsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  return listPage(cursorKey, page, {
    scope: { organizationId, list: 'rule-versions', filter: { ruleId } },
    select: ({ after, ...window }) =>
      database.inTenant(organizationId, async (tx) => {
        const { rule } = await loadRule(tx, principal, ruleId);
        const before = after && Number(after[0]);
        const rows = await selectRuleVersions(tx, organizationId, rule.id, { ...window, before });
        return { rows, total: rule.version };
      }),
    recordOf: ruleVersionRecord,
    positionOf: ({ version }) => [version],
  });
}
