import type { RuleServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createRule } from './definition/create-rule';
import { listRules, listRuleVersions } from './definition/list-rules';
import { loadRule } from './definition/load-rule';
import { ruleDocument } from './definition/render-rule';
import type { RuleDeps } from './definition/rule-deps';
import { deleteRule, updateRule } from './definition/update-rule';
import { getDryRun } from './dry-runs/get-dry-run';
import { startDryRun } from './dry-runs/start-dry-run';
import { testRule, type TestDeps } from './dry-runs/test-rule';
import { listConversationRuleRuns, listRuleRuns } from './runs/list-rule-runs';

export function createRuleHandlers(
  deps: RuleDeps & TestDeps & { onDryRun: () => void },
): Handlers<typeof RuleServiceService, CallContext> {
  return {
    listRules: (request, context) => listRules(deps, request, context),
    createRule: (request, context) => createRule(deps, request, context),
    getRule: ({ id }, { principal }) =>
      deps.database.inTenant(principal.organizationId, async (tx) =>
        ruleDocument(await loadRule(tx, principal, id)),
      ),
    updateRule: (request, context) => updateRule(deps, request, context),
    deleteRule: (request, context) => deleteRule(deps, request, context),
    listRuleVersions: (request, context) => listRuleVersions(deps, request, context),
    listRuleRuns: (request, context) => listRuleRuns(deps, request, context),
    listConversationRuleRuns: (request, context) =>
      listConversationRuleRuns(deps, request, context),
    testRule: (request, context) => testRule(deps, request, context),
    startRuleDryRun: (request, context) => startDryRun(deps, request, context),
    getRuleDryRun: (request, context) => getDryRun(deps, request, context),
  };
}
