import type { SqlExecutor } from '@dak/platform/postgres';
import { byOrder, type Rule } from './rule';
import { selectEnabledRules, selectRuleSetVersion } from './rule-store';

const MAX_ORGANIZATIONS = 1_000;

/** The rules that run, in their order. */
export type RulesOf = (tx: SqlExecutor, organizationId: string) => Promise<readonly Rule[]>;

/**
 * Keeps rules in memory and asks in every transaction whether they are still the ones: the version is
 * bumped in the transaction of each change, so no rule is used that a change has already replaced,
 * whichever replica made it.
 */
export function createRuleCache(): RulesOf {
  const known = new Map<string, { version: number; rules: readonly Rule[] }>();
  return async (tx, organizationId) => {
    const version = await selectRuleSetVersion(tx, organizationId);
    if (version === 0) return [];
    const cached = known.get(organizationId);
    if (cached?.version === version) return cached.rules;
    const rules = (await selectEnabledRules(tx, organizationId)).sort(byOrder);
    if (known.size >= MAX_ORGANIZATIONS) known.clear();
    known.set(organizationId, { version, rules });
    return rules;
  };
}
