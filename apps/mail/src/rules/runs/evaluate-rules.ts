import type { RuleAction } from '@dak/contracts/api';
import { setImmediate as turn } from 'node:timers/promises';
import { uuidv7 } from '@dak/kernel';
import type { Access } from '../../mailboxes/visibility-store';
import { accessOf } from '../definition/check-references';
import { covers, existedAt, type Rule } from '../definition/rule';
import { evaluateRule } from '../evaluation/evaluate-rule';
import type { StoredRuleMessage } from '../evaluation/rule-message-store';
import type { PatternAnswersOf } from '../evaluation/rule-patterns';
import type { Arrival, EvaluatedRule } from './rule-match';
import type { ActionOutcome } from './rule-run-store';
import { isAtLeast, type CurrentRights } from './current-rights';

/** Events between the first cause and the last that rules act upon. */
export const MAX_CAUSATION_DEPTH = 8;
/** Milliseconds of matching before others get their turn. */
const SLICE_MS = 15;

const TOO_COSTLY =
  'The regular expressions of the rules take too long for this mail, so this rule was not decided: use smaller repetitions, or fewer rules with expressions.';

export interface EvaluatedMessage {
  readonly arrival: Arrival;
  readonly message: StoredRuleMessage;
}

/**
 * Evaluates the rules that cover the messages' mailboxes, messages and rules each in order. Conditions
 * see the labels as earlier rules leave them. No action is carried out yet.
 * @param rules in their order
 * @throws AnswersMissing when expressions are to be worked out first
 */
export async function evaluateRules(
  messages: readonly EvaluatedMessage[],
  rules: readonly Rule[],
  rights: CurrentRights,
  answersOf: PatternAnswersOf,
): Promise<EvaluatedRule[]> {
  const answers = await answersOf(
    messages.map(({ arrival, message }) => ({
      message,
      traceparent: arrival.traceparent,
      rules: rules.filter((rule) => isApplicable(rule, arrival, message, rights)),
    })),
  );
  const evaluated: EvaluatedRule[] = [];
  const labels = new Map(
    messages.map(({ message }) => [message.conversationId, message.labels] as const),
  );
  let sliceStart = performance.now();
  for (const { arrival, message } of messages) {
    const { conversationId } = message;
    const patterns = answers.get(message.id)!;
    for (const rule of rules) {
      if (!isApplicable(rule, arrival, message, rights)) continue;
      const access = rights.ownerAccess(rule, message.mailboxId)!;
      if (performance.now() - sliceStart > SLICE_MS) {
        await turn();
        sliceStart = performance.now();
      }
      const evaluation = evaluateRule(rule, message, labels.get(conversationId) ?? [], patterns);
      const outcomes = evaluation.matched
        ? rule.actions.map((action) => refusalOf(action, arrival, access, rights))
        : evaluation.undecided
          ? rule.actions.map(({ type }) => ({
              type,
              outcome: 'failed' as const,
              error: TOO_COSTLY,
            }))
          : [];
      evaluated.push({
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
  return evaluated;
}

/** Whether the rule existed when the mail arrived, and its owner may still read the mailbox. */
function isApplicable(
  rule: Rule,
  { occurredAt }: Arrival,
  { mailboxId }: StoredRuleMessage,
  rights: CurrentRights,
): boolean {
  return (
    covers(rule, mailboxId) &&
    existedAt(rule, occurredAt) &&
    rights.ownerAccess(rule, mailboxId) !== null
  );
}

/** The outcome of an action that must not be tried; null = try it. */
function refusalOf(
  action: RuleAction,
  { causationDepth }: Arrival,
  access: Access,
  rights: CurrentRights,
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
  if (action.type === 'assign' && !rights.isActive(action.user_id)) {
    const error = 'The user has been deactivated: choose another one in the rule.';
    return { type, outcome: 'failed', error };
  }
  return null;
}

function labelsAfter(
  rule: Rule,
  outcomes: EvaluatedRule['outcomes'],
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
