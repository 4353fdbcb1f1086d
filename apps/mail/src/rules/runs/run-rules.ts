import { NotFoundError, type Clock } from '@dak/kernel';
import { claimInbox } from '@dak/platform/log';
import type { Database, Transaction } from '@dak/platform/postgres';
import { traceIdOf } from '@dak/platform/telemetry';
import type { ConversationRow } from '../../conversations/conversation-row';
import { lockConversations } from '../../conversations/conversation-store';
import { covers, existedAt } from '../definition/rule';
import type { RulesOf } from '../definition/rule-cache';
import { addToTallies } from '../definition/rule-store';
import { matchInPlace, type PatternMatcher } from '../evaluation/pattern-matcher';
import { neededFacts } from '../definition/rule-fields';
import {
  loadRuleMessages,
  rememberSenders,
  selectConversationIds,
} from '../evaluation/rule-message-store';
import { createRulePatterns, type PatternAnswersOf } from '../evaluation/rule-patterns';
import { applyChanges } from './apply-changes';
import { evaluateRules } from './evaluate-rules';
import type { Arrival, EvaluatedRule } from './rule-match';
import { insertRuleRuns, type RuleRun } from './rule-run-store';
import { sendRuleMail, type SendDeps } from './send-rule-mail';
import { loadCurrentRights } from './current-rights';

/** Consumer group, in the log and in the inbox. */
export const RULES_GROUP = 'rules';

export interface RunDeps extends SendDeps {
  readonly database: Pick<Database, 'inTenant'>;
  readonly clock: Clock;
  readonly rulesOf: RulesOf;
  /** @default where it is called */
  readonly patterns?: PatternMatcher;
  /** New deliveries are durable and due. */
  readonly onAccepted: () => void;
  /** Rules met mail, and that is durable. */
  readonly onRan?: (evaluated: readonly EvaluatedRule[]) => void;
}

/**
 * Runs the rules of an organization on mail that arrived. One transaction has everything: that the
 * events have been handled, changes, mail to be sent, events and run records; so each mail meets each
 * rule once, whatever crashes and however often its event is delivered.
 * Expressions are worked out between two attempts, so that no connection and no lock waits for them.
 * @param arrivals in order per conversation
 * @throws CostlyTogether when the expressions for several messages take long
 */
export async function runRules(
  deps: RunDeps,
  organizationId: string,
  arrivals: readonly Arrival[],
): Promise<void> {
  const patterns = createRulePatterns(deps.patterns ?? matchInPlace, organizationId);
  await patterns.whileMissing((answersOf) => attempt(deps, organizationId, arrivals, answersOf));
}

async function attempt(
  deps: RunDeps,
  organizationId: string,
  arrivals: readonly Arrival[],
  answersOf: PatternAnswersOf,
): Promise<void> {
  let sent = false;
  let evaluated: readonly EvaluatedRule[] = [];
  await deps.database.inTenant(organizationId, async (tx) => {
    sent = false;
    evaluated = [];
    await rememberSenders(
      tx,
      organizationId,
      arrivals.map(({ messageId }) => messageId),
    );
    const live = arrivals.filter(({ imported }) => !imported);
    if (live.length === 0) return;
    const claimed = await claimInbox(
      tx,
      RULES_GROUP,
      live.map(({ eventId }) => eventId),
    );
    const rules = await deps.rulesOf(tx, organizationId);
    const fresh = live.filter(
      ({ eventId, mailboxId, occurredAt }) =>
        claimed.has(eventId) &&
        rules.some((rule) => covers(rule, mailboxId) && existedAt(rule, occurredAt)),
    );
    if (fresh.length === 0) return;
    ({ sent, evaluated } = await runOn(tx, deps, organizationId, fresh, rules, answersOf));
  });
  deps.onRan?.(evaluated);
  if (sent) deps.onAccepted();
}

async function runOn(
  tx: Transaction,
  deps: RunDeps,
  organizationId: string,
  arrivals: readonly Arrival[],
  rules: Awaited<ReturnType<RulesOf>>,
  answersOf: PatternAnswersOf,
): Promise<{ sent: boolean; evaluated: readonly EvaluatedRule[] }> {
  const mailboxIds = [...new Set(arrivals.map(({ mailboxId }) => mailboxId))];
  const relevant = rules.filter((rule) => mailboxIds.some((id) => covers(rule, id)));
  const messages = await loadRuleMessages(
    tx,
    deps.blobs,
    organizationId,
    arrivals.map(({ messageId }) => messageId),
    neededFacts(relevant),
  );
  const rights = await loadCurrentRights(tx, organizationId, relevant, mailboxIds);
  const evaluated = await evaluateRules(
    arrivals.flatMap((arrival) => {
      const message = messages.get(arrival.messageId);
      return message === undefined ? [] : [{ arrival, message }];
    }),
    relevant,
    rights,
    answersOf,
  );
  const now = deps.clock();
  const at = new Date(now).toISOString();
  const sent = await act(tx, deps, organizationId, evaluated, now);
  await insertRuleRuns(
    tx,
    organizationId,
    evaluated.map((run) => toRun(run, at)),
  );
  await addToTallies(tx, organizationId, talliesOf(evaluated), at);
  return { sent, evaluated };
}

/** Carries out the actions of matched rules. @returns whether mail was sent */
async function act(
  tx: Transaction,
  deps: RunDeps,
  organizationId: string,
  evaluated: readonly EvaluatedRule[],
  now: number,
): Promise<boolean> {
  const matched = evaluated.filter(({ evaluation }) => evaluation.matched);
  if (matched.length === 0) return false;
  const { rows, placed } = await lockConversationsOf(
    tx,
    organizationId,
    matched.map(({ message }) => message.id),
  );
  for (const run of matched) {
    run.conversationId = placed.get(run.message.id) ?? run.conversationId;
  }
  const touched = await sendRuleMail(tx, deps, organizationId, matched, now);
  // Mail of rules has moved these on.
  for (const [id, row] of await lockRows(tx, organizationId, [...touched])) rows.set(id, row);
  await applyChanges(tx, organizationId, matched, rows, now);
  return touched.size > 0;
}

/** The conversations that the messages are in, locked: nothing moves the messages after that. */
async function lockConversationsOf(
  tx: Transaction,
  organizationId: string,
  messageIds: readonly string[],
): Promise<{ rows: Map<string, ConversationRow>; placed: Map<string, string> }> {
  const rows = new Map<string, ConversationRow>();
  for (;;) {
    const placed = await selectConversationIds(tx, organizationId, messageIds);
    const wanted = [...new Set(placed.values())].filter((id) => !rows.has(id));
    if (wanted.length === 0) return { rows, placed };
    const locked = await lockRows(tx, organizationId, wanted);
    if (locked.size === 0) throw new NotFoundError('conversation');
    for (const [id, row] of locked) rows.set(id, row);
  }
}

async function lockRows(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, ConversationRow>> {
  const locked = await lockConversations(tx, organizationId, ids);
  return new Map(locked.map(({ mailbox_address: _, ...row }) => [row.id, row]));
}

function toRun(run: EvaluatedRule, at: string): RuleRun {
  const { rule, message, arrival, evaluation } = run;
  return {
    id: run.runId,
    rule_id: rule.id,
    rule_name: rule.name,
    rule_version: rule.version,
    mailbox_id: message.mailboxId,
    conversation_id: run.conversationId,
    message_id: message.id,
    event_id: arrival.eventId,
    matched: evaluation.matched,
    conditions: [...evaluation.conditions],
    actions: run.outcomes.map((outcome) => outcome!),
    at,
    trace_id: traceIdOf(arrival.traceparent),
  };
}

function talliesOf(evaluated: readonly EvaluatedRule[]) {
  return [...Map.groupBy(evaluated, ({ rule }) => rule.id)].map(([ruleId, own]) => ({
    ruleId,
    evaluated: own.length,
    matched: own.filter(({ evaluation }) => evaluation.matched).length,
  }));
}
