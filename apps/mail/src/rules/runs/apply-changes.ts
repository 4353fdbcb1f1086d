import { DomainError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ActivityEntry } from '../../conversations/activity-store';
import type { ConversationRow } from '../../conversations/conversation-row';
import { mailEvent } from '../../conversations/mail-events';
import { saveConversations, type ConversationChange } from '../../conversations/save-conversations';
import { changesConversation, decideAction } from './decide-action';
import type { EvaluatedRule } from './rule-match';
import { actorOfRule } from './rule-principal';

/**
 * Changes conversations as the matched rules want, one rule after the other, and says so: each rule
 * has its own activity, `conversation.updated` and `rule.matched`. Fills in the remaining outcomes.
 * A refused action does not stop the others.
 * @param rows of the conversations, locked and as they are now
 */
export async function applyChanges(
  tx: SqlExecutor,
  organizationId: string,
  evaluated: readonly EvaluatedRule[],
  rows: ReadonlyMap<string, ConversationRow>,
  now: number,
): Promise<void> {
  const current = new Map(rows);
  // A statement changes a conversation once: its first rules go together, then its second ones …
  const turns = new Map<string, number>();
  const rounds: EvaluatedRule[][] = [];
  for (const run of evaluated) {
    const turn = turns.get(run.conversationId) ?? 0;
    turns.set(run.conversationId, turn + 1);
    (rounds[turn] ??= []).push(run);
  }
  for (const round of rounds) {
    const changes = round.map((run) => changeOf(run, current.get(run.conversationId)!, now));
    const saved = await saveConversations(tx, organizationId, changes, now);
    for (const row of saved) current.set(row.id, row);
  }
}

function changeOf(run: EvaluatedRule, before: ConversationRow, now: number): ConversationChange {
  const { rule, arrival, outcomes } = run;
  let after = before;
  const activity: ActivityEntry[] = [];
  let reason: string | null = null;
  for (const [index, action] of rule.actions.entries()) {
    if (outcomes[index] !== null) continue;
    if (!changesConversation(action)) {
      outcomes[index] = { type: action.type, outcome: 'done', error: null };
      continue;
    }
    try {
      const decision = decideAction(after, action, now);
      after = decision.after;
      activity.push(...decision.activity.map((entry) => ({ ...entry, reason: 'rule' })));
      reason ??= decision.reason;
      outcomes[index] = { type: action.type, outcome: 'done', error: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      outcomes[index] = { type: action.type, outcome: 'failed', error: error.message };
    }
  }
  const actor = actorOfRule(rule);
  const cause = { id: arrival.eventId, depth: arrival.causationDepth + 1 };
  return {
    before,
    after,
    reason: reason ?? 'rule_matched',
    actor,
    activity,
    cause,
    traceparent: arrival.traceparent,
    messageEvents: [
      {
        messageId: run.message.id,
        actor,
        build: (facts) =>
          mailEvent('rule.matched', facts, {
            ruleId: rule.id,
            ruleName: rule.name,
            ruleVersion: rule.version,
            ruleKind: rule.kind,
            runId: run.runId,
            actions: outcomes.map((outcome) => ({
              type: outcome!.type,
              outcome: outcome!.outcome,
              error: outcome!.error ?? '',
            })),
            notifyWebhookIds: rule.actions.flatMap((action, index) =>
              action.type === 'notify_webhook' && outcomes[index]!.outcome === 'done'
                ? [action.webhook_id]
                : [],
            ),
          }),
      },
    ],
  };
}
