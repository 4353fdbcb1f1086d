import { inSpan } from '@dak/platform/telemetry';
import type { RuleDefinition } from '../definition/rule';
import type { RuleMessage } from '../definition/rule-fields';
import type { PatternMatcher } from './pattern-matcher';
import {
  isCheap,
  patternsInPlace,
  patternTestsOf,
  type PatternAnswers,
  type PatternTest,
} from './pattern-tests';

/** Messages whose expressions may be worked out together however long that takes, and milliseconds for more of them. */
export const COSTLY_TOGETHER = 2;
const COSTLY_MS = 1_000;

/** Too much for one group: the messages are to be taken in smaller ones. */
export class CostlyTogether extends Error {
  override readonly name = 'CostlyTogether';
}

/** A message and its applicable rules. */
export interface AskedMessage {
  readonly message: RuleMessage;
  /** W3C trace context; null without tracing. */
  readonly traceparent: string | null;
  readonly rules: readonly Pick<RuleDefinition, 'conditions'>[];
}

/** Answers by message id. @throws AnswersMissing when some have to be worked out first */
export type PatternAnswersOf = (
  asked: readonly AskedMessage[],
) => Promise<Map<string, PatternAnswers>>;

/** Tests of one message. */
interface Question {
  readonly traceparent: string | null;
  readonly tests: readonly PatternTest[];
}

/** Tests that must be answered before an attempt can succeed. */
class AnswersMissing extends Error {
  override readonly name = 'AnswersMissing';
  constructor(readonly questions: ReadonlyMap<string, Question>) {
    super('Expressions have to be worked out first.');
  }
}

export interface RulePatterns {
  /** Attempts again whenever answers were missing and have been worked out. @throws CostlyTogether */
  whileMissing<T>(attempt: (answersOf: PatternAnswersOf) => Promise<T>): Promise<T>;
}

/** Answers of an organization's expressions for some messages, kept over several attempts. */
export function createRulePatterns(matcher: PatternMatcher, organizationId: string): RulePatterns {
  const known = new Map<string, { tests: readonly PatternTest[]; answers: PatternAnswers }>();

  const match = ({ traceparent, tests }: Question) =>
    inSpan('match patterns', { parent: traceparent }, () => matcher.match(organizationId, tests));

  const look: PatternAnswersOf = async (asked) => {
    const found = new Map<string, PatternAnswers>();
    const missing = new Map<string, Question>();
    for (const { message, traceparent, rules } of asked) {
      const tests = patternTestsOf(rules, message);
      const before = known.get(message.id);
      if (tests.length === 0) found.set(message.id, patternsInPlace());
      else if (isCheap(tests)) found.set(message.id, await match({ traceparent, tests }));
      // A rule may have changed since.
      else if (before !== undefined && isSame(before.tests, tests)) {
        found.set(message.id, before.answers);
      } else missing.set(message.id, { traceparent, tests });
    }
    if (missing.size > 0) throw new AnswersMissing(missing);
    return found;
  };

  const workOut = async (questions: AnswersMissing['questions']) => {
    const began = performance.now();
    for (const [messageId, question] of questions) {
      known.set(messageId, { tests: question.tests, answers: await match(question) });
      if (questions.size > COSTLY_TOGETHER && performance.now() - began > COSTLY_MS) {
        throw new CostlyTogether();
      }
    }
  };

  return {
    async whileMissing(attempt) {
      for (;;) {
        try {
          return await attempt(look);
        } catch (error) {
          if (!(error instanceof AnswersMissing)) throw error;
          await workOut(error.questions);
        }
      }
    },
  };
}

function isSame(one: readonly PatternTest[], other: readonly PatternTest[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ pattern, text }, index) => {
      const test = other[index]!;
      return pattern === test.pattern && text === test.text;
    })
  );
}
