import type { RuleVerdictRecord, RuleCondition } from '@dak/contracts/api';
import type { RuleDefinition } from '../definition/rule';
import { patternsInPlace, type PatternAnswers } from './pattern-tests';
import { actualOf, type FieldValue } from '../definition/field-values';
import { valuesOf, type RuleMessage } from '../definition/rule-fields';

export type Verdict = RuleVerdictRecord;

export interface Evaluation {
  readonly matched: boolean;
  /** One per condition, even after the outcome is clear, for display. */
  readonly conditions: readonly Verdict[];
  /** A regular expression exceeded the budget: the rule is undecided, and `matched` is false. */
  readonly undecided: boolean;
}

/**
 * Whether a message satisfies a rule, and why. Texts are compared without regard to case, `matches` as
 * its expression says. A rule without conditions matches everything.
 * @param patterns answers for this message, shared by its rules
 */
export function evaluateRule(
  rule: Pick<RuleDefinition, 'match' | 'conditions'>,
  message: RuleMessage,
  labels: readonly string[],
  patterns: PatternAnswers = patternsInPlace(),
): Evaluation {
  let undecided = false;
  const conditions = rule.conditions.map((condition, index): Verdict => {
    const values = valuesOf(message, labels, condition.field);
    const { field, operator, negate, value } = condition;
    const isMet = holds(condition, values, patterns);
    if (isMet === null) undecided = true;
    return {
      index,
      field,
      operator,
      negate,
      expected: value === null ? null : typeof value === 'object' ? [...value] : value,
      actual: actualOf(values),
      matched: isMet !== null && isMet !== negate,
    };
  });
  const matched =
    rule.match === 'all' || conditions.length === 0
      ? conditions.every((verdict) => verdict.matched)
      : conditions.some((verdict) => verdict.matched);
  return { matched: matched && !undecided, conditions, undecided };
}

function holds(
  { operator, value }: RuleCondition,
  values: readonly FieldValue[],
  patterns: PatternAnswers,
): boolean | null {
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
    case 'matches': {
      if (typeof value !== 'string') return false;
      const answers = values.map(({ compared }) => patterns.answer(value, String(compared)));
      if (answers.includes(true)) return true;
      return answers.includes(null) ? null : false;
    }
    case 'greater_than':
      return values.some(({ compared }) => Number(compared) > Number(value));
    case 'less_than':
      return values.some(({ compared }) => Number(compared) < Number(value));
  }
}

function some(
  values: readonly FieldValue[],
  value: RuleCondition['value'],
  test: (text: string, part: string) => boolean,
): boolean {
  const part = String(fold(value));
  return values.some(({ compared }) => test(String(fold(compared)), part));
}

/** One form of what reads the same: composed (NFC), lower case. */
function fold(value: unknown): unknown {
  return typeof value === 'string' ? value.normalize('NFC').toLowerCase() : value;
}
