import type { RuleVerdictRecord } from '@dak/contracts/api';
import type { Condition, RuleDefinition } from './rule';
import { actualOf, valuesOf, type FieldValue, type RuleMessage } from './rule-message';
import { matchesPattern, patternBudget, type PatternBudget } from './rule-pattern';

export type Verdict = RuleVerdictRecord;

export interface Evaluation {
  readonly matched: boolean;
  /** One per condition, also after the outcome is clear: they are what a person is told. */
  readonly conditions: readonly Verdict[];
}

/**
 * Whether a message satisfies a rule, and why. Texts are compared without regard to case, `matches` as
 * its expression says. A rule without conditions matches everything.
 * @param budget shared by the rules that look at this message
 */
export function evaluateRule(
  rule: Pick<RuleDefinition, 'match' | 'conditions'>,
  message: RuleMessage,
  labels: readonly string[],
  budget: PatternBudget = patternBudget(),
): Evaluation {
  const conditions = rule.conditions.map((condition, index): Verdict => {
    const values = valuesOf(message, labels, condition.field);
    const { field, operator, negate, value } = condition;
    return {
      index,
      field,
      operator,
      negate,
      expected: value === null ? null : typeof value === 'object' ? [...value] : value,
      actual: actualOf(values),
      matched: holds(condition, values, budget) !== negate,
    };
  });
  const matched =
    rule.match === 'all' || conditions.length === 0
      ? conditions.every((verdict) => verdict.matched)
      : conditions.some((verdict) => verdict.matched);
  return { matched, conditions };
}

function holds(
  { operator, value }: Condition,
  values: readonly FieldValue[],
  budget: PatternBudget,
): boolean {
  switch (operator) {
    case 'exists': {
      const isThere = values.some(({ compared }) => compared !== false);
      return isThere === (value !== false);
    }
    case 'equals':
      return values.some(({ compared }) => fold(compared) === fold(value));
    case 'in': {
      const wanted = new Set(Array.isArray(value) ? value.map(fold) : [fold(value)]);
      return values.some(({ compared }) => wanted.has(fold(compared)));
    }
    case 'contains':
      return some(values, value, (text, part) => text.includes(part));
    case 'starts_with':
      return some(values, value, (text, part) => text.startsWith(part));
    case 'ends_with':
      return some(values, value, (text, part) => text.endsWith(part));
    case 'matches':
      return (
        typeof value === 'string' &&
        values.some(({ compared }) => matchesPattern(value, String(compared), budget))
      );
    case 'greater_than':
      return values.some(({ compared }) => Number(compared) > Number(value));
    case 'less_than':
      return values.some(({ compared }) => Number(compared) < Number(value));
  }
}

function some(
  values: readonly FieldValue[],
  value: Condition['value'],
  test: (text: string, part: string) => boolean,
): boolean {
  const part = String(fold(value));
  return values.some(({ compared }) => test(String(fold(compared)), part));
}

/** One form of what reads the same: composed (NFC), lower case. */
function fold(value: unknown): unknown {
  return typeof value === 'string' ? value.normalize('NFC').toLowerCase() : value;
}
