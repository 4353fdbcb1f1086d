import { setImmediate as turn } from 'node:timers/promises';
import { uuidv7 } from '@dak/kernel';
import { inSpan } from '@dak/platform/telemetry';
import type { Access } from '../../mailboxes/visibility-store';
import { accessOf } from '../definition/check-references';
import { covers, existedAt, type Action, type Rule } from '../definition/rule';
import { evaluateRule } from '../evaluation/evaluate-rule';
import type { PatternMatcher } from '../evaluation/pattern-matcher';
import { patternTestsOf } from '../evaluation/pattern-tests';
import type { StoredRuleMessage } from '../evaluation/rule-message-store';
import type { Arrival, RuleLook } from './rule-match';
import type { ActionOutcome } from './rule-run-store';
import { isAtLeast, type Standing } from './standing';

/** Events between the first cause and the last that rules act upon. */
export const MAX_CAUSATION_DEPTH = 8;
/** Milliseconds of matching before others get their turn. */
const SLICE_MS = 15;

/** Messages that may be looked at together however long that takes, and milliseconds for more of them. */
export const COSTLY_TOGETHER = 2;
const COSTLY_MS = 1_000;

/** Too much for one transaction: the messages are to be taken in smaller groups. */
export class CostlyTogether extends Error {
  override readonly name = 'CostlyTogether';
}

const TOO_COSTLY =
  'The regular expressions of the rules take too long for this mail, so this rule was not decided: use smaller repetitions, or fewer rules with expressions.';

export interface LookedAtMessage {
  readonly arrival: Arrival;
  readonly message: StoredRuleMessage;
}

/**
 * Puts messages, in order, before the rules that cover their mailboxes, in their order. Labels that an
 * earlier rule gives or takes are there for the conditions of later ones. Nothing is done yet.
 * @param rules in their order
 * @throws CostlyTogether when the expressions for several messages take long
 */
export async function lookAtMessages(
  messages: readonly LookedAtMessage[],
  rules: readonly Rule[],
  standing: Standing,
  organizationId: string,
  matcher: PatternMatcher,
): Promise<RuleLook[]> {
  const began = performance.now();
  const looks: RuleLook[] = [];
  const labels = new Map(
    messages.map(({ message }) => [message.conversationId, message.labels] as const),
  );
  let sliceStart = performance.now();
  for (const { arrival, message } of messages) {
    const { conversationId } = message;
    const own = rules.filter(
      (rule) =>
        covers(rule, message.mailboxId) &&
        existedAt(rule, arrival.occurredAt) &&
        standing.ownerAccess(rule, message.mailboxId) !== null,
    );
    const tests = patternTestsOf(own, message);
    const match = () => matcher.match(organizationId, tests);
    const patterns =
      tests.length === 0
        ? await match()
        : await inSpan('match patterns', { parent: arrival.traceparent }, match);
    if (messages.length > COSTLY_TOGETHER && performance.now() - began > COSTLY_MS) {
      throw new CostlyTogether();
    }
    for (const rule of rules) {
      if (!covers(rule, message.mailboxId) || !existedAt(rule, arrival.occurredAt)) continue;
      const access = standing.ownerAccess(rule, message.mailboxId);
      if (access === null) continue;
      if (performance.now() - sliceStart > SLICE_MS) {
        await turn();
        sliceStart = performance.now();
      }
      const evaluation = evaluateRule(rule, message, labels.get(conversationId) ?? [], patterns);
      const outcomes = evaluation.matched
        ? rule.actions.map((action) => refusalOf(action, arrival, access, standing))
        : evaluation.undecided
          ? rule.actions.map(({ type }) => ({
              type,
              outcome: 'failed' as const,
              error: TOO_COSTLY,
            }))
          : [];
      looks.push({
        runId: uuidv7(),
        rule,
        arrival,
        message,
        conversationId,
        evaluation,
        outcomes,
      });
      if (!evaluation.matched) continue;
      labels.set(conversationId, labelsAfter(rule, outcomes, labels.get(conversationId) ?? []));
      if (rule.stop) break;
    }
  }
  return looks;
}

/** What becomes of an action that is not to be tried; null = it is. */
function refusalOf(
  action: Action,
  { causationDepth }: Arrival,
  access: Access,
  standing: Standing,
): ActionOutcome | null {
  const { type } = action;
  if (causationDepth > MAX_CAUSATION_DEPTH) {
    const error = `${causationDepth} events led to this one, which looks like a loop of rules.`;
    return { type, outcome: 'skipped', error };
  }
  if (!isAtLeast(access, accessOf([action]))) {
    const error =
      'Who made the rule may no longer do this in the mailbox: an admin can raise their access.';
    return { type, outcome: 'skipped', error };
  }
  if (action.type === 'assign' && !standing.isActive(action.user_id)) {
    const error = 'The user has been deactivated: choose another one in the rule.';
    return { type, outcome: 'failed', error };
  }
  return null;
}

function labelsAfter(
  rule: Rule,
  outcomes: RuleLook['outcomes'],
  before: readonly string[],
): string[] {
  const labels = new Set(before);
  rule.actions.forEach((action, index) => {
    if (outcomes[index] !== null) return;
    if (action.type === 'add_labels') for (const label of action.labels) labels.add(label);
    if (action.type === 'remove_labels') for (const label of action.labels) labels.delete(label);
  });
  return [...labels];
}
