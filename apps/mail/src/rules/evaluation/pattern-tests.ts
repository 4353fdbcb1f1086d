import type { RuleDefinition } from '../definition/rule';
import { effortOf, matchesPattern, patternBudget } from '../definition/rule-pattern';
import { valuesOf, type RuleMessage } from '../definition/rule-fields';

/** Whether an expression is in a text. */
export interface PatternTest {
  readonly pattern: string;
  readonly text: string;
}

/** Null: not answered within the budget. */
export type PatternAnswer = boolean | null;

/** Answers for one message. */
export interface PatternAnswers {
  answer(pattern: string, text: string): PatternAnswer;
}

/** Answers that are worked out when asked for, out of one budget. */
export function patternsInPlace(budget = patternBudget()): PatternAnswers {
  return { answer: (pattern, text) => matchesPattern(pattern, text, budget) };
}

/**
 * The pattern tests that rules need on a message. Labels are left out: earlier rules change them, and they are short.
 */
export function patternTestsOf(
  rules: readonly Pick<RuleDefinition, 'conditions'>[],
  message: RuleMessage,
): PatternTest[] {
  const known = new Map<string, Set<string>>();
  const tests: PatternTest[] = [];
  for (const { field, operator, value } of rules.flatMap(({ conditions }) => conditions)) {
    if (operator !== 'matches' || field === 'label' || typeof value !== 'string') continue;
    for (const { compared } of valuesOf(message, [], field)) {
      const text = String(compared);
      const patterns = known.get(text) ?? new Set();
      if (patterns.has(value)) continue;
      known.set(text, patterns.add(value));
      tests.push({ pattern: value, text });
    }
  }
  return tests;
}

/** Characters of text × characters of pattern that are not worth a hop: well below a millisecond. */
const CHEAP = 20_000;
/** A repetition count makes a short pattern a large program. */
const COUNTED = /\{\d/;

/** Whether tests may be worked out where they are asked. */
export function isCheap(tests: readonly PatternTest[]): boolean {
  const size = tests.reduce((sum, { pattern, text }) => sum + pattern.length * text.length, 0);
  return size <= CHEAP && !tests.some(({ pattern }) => COUNTED.test(pattern));
}

/**
 * Works tests out, the cheapest first, so that a rule that is within reason has its answer whatever others of the
 * same organization ask.
 * @param note called with each answer, for whoever might stop this half way
 */
export function runPatternTests(
  tests: readonly PatternTest[],
  note: (index: number, answer: PatternAnswer) => void,
): void {
  const budget = patternBudget();
  const order = tests
    .map(({ pattern, text }, index) => ({ index, ...effortOf(pattern, text) }))
    .sort((a, b) => a.work - b.work);
  for (const { index } of order) {
    const { pattern, text } = tests[index]!;
    note(index, matchesPattern(pattern, text, budget));
  }
}

/** Answers computed before; missing ones are computed in place. */
export function answersOf(
  tests: readonly PatternTest[],
  answers: readonly PatternAnswer[],
): PatternAnswers {
  const known = new Map<string, Map<string, PatternAnswer>>();
  for (const [index, { pattern, text }] of tests.entries()) {
    const ofText = known.get(text) ?? new Map<string, PatternAnswer>();
    known.set(text, ofText.set(pattern, answers[index] ?? null));
  }
  const inPlace = patternsInPlace({ left: MAX_IN_PLACE });
  return {
    answer(pattern, text) {
      const answer = known.get(text)?.get(pattern);
      return answer === undefined ? inPlace.answer(pattern, text) : answer;
    },
  };
}

/** Characters × instructions for labels: some milliseconds. */
const MAX_IN_PLACE = 500_000;
