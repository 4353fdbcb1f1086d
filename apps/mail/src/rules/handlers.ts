import type { RuleServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createRule } from './create-rule';
import { getDryRun } from './get-dry-run';
import { listConversationRuleRuns, listRuleRuns } from './list-rule-runs';
import { listRules, listRuleVersions } from './list-rules';
import { loadRule } from './load-rule';
import { ruleDocument } from './render-rule';
import type { RuleDeps } from './rule-deps';
import { startDryRun } from './start-dry-run';
import { testRule } from './test-rule';
import { deleteRule, updateRule } from './update-rule';

export function createRuleHandlers(
  deps: RuleDeps & { onDryRun: () => void },
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
