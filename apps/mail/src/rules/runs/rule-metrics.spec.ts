import { Registry } from 'prom-client';
import { createRuleMetrics } from './rule-metrics';
import type { EvaluatedRule } from './rule-match';

function evaluated(
  matched: boolean,
  undecided: boolean,
  outcomes: EvaluatedRule['outcomes'],
): EvaluatedRule {
  return {
    evaluation: { matched, undecided, conditions: [] },
    outcomes,
  } as unknown as EvaluatedRule;
}

it('counts rules by whether they matched, and their actions by what came of them', async () => {
  const registry = new Registry();
  const count = createRuleMetrics(registry);
  count([
    evaluated(true, false, [
      { type: 'add_labels', outcome: 'done', error: null },
      { type: 'forward', outcome: 'failed', error: 'no' },
    ]),
    evaluated(false, false, []),
    evaluated(false, true, [{ type: 'assign', outcome: 'failed', error: 'too long' }]),
  ]);
  const text = await registry.metrics();
  for (const outcome of ['matched', 'not_matched', 'undecided']) {
    expect(text).toContain(`dak_mail_rule_runs_total{outcome="${outcome}"} 1`);
  }
  expect(text).toContain('dak_mail_rule_actions_total{action="add_labels",outcome="done"} 1');
  expect(text).toContain('dak_mail_rule_actions_total{action="forward",outcome="failed"} 1');
  expect(text).toContain('dak_mail_rule_actions_total{action="assign",outcome="failed"} 1');
});
