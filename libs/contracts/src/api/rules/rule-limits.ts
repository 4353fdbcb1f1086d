/** As `/capabilities` names them. */
export const RULE_LIMITS = {
  rules: 200,
  conditions_per_rule: 50,
  actions_per_rule: 20,
} as const;
