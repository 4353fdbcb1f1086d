import { Counter, type Registry } from 'prom-client';
import type { EvaluatedRule } from './rule-match';

/** Counts what rules made of mail that arrived; no label names a rule. */
export function createRuleMetrics(
  registry: Registry,
): (evaluated: readonly EvaluatedRule[]) => void {
  const registers = [registry];
  const runs = new Counter({
    name: 'dak_mail_rule_runs_total',
    help: 'Rule runs, by whether they matched; undecided if the expressions took too long',
    labelNames: ['outcome'],
    registers,
  });
  const actions = new Counter({
    name: 'dak_mail_rule_actions_total',
    help: 'Actions of matching rules, by outcome',
    labelNames: ['action', 'outcome'],
    registers,
  });
  return (evaluated) => {
    for (const { evaluation, outcomes } of evaluated) {
      const { matched, undecided } = evaluation;
      runs.inc({ outcome: matched ? 'matched' : undecided ? 'undecided' : 'not_matched' });
      for (const outcome of outcomes) {
        if (outcome !== null) actions.inc({ action: outcome.type, outcome: outcome.outcome });
      }
    }
  };
}
