import type { RuleAction } from '@dak/contracts/api';
import { DomainError } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext } from '@dak/platform/grpc';
import type { Transaction } from '@dak/platform/postgres';
import { acceptWithin, MAX_AUTOMATIC_PER_HOUR } from '../../sending/submissions/acceptor';
import type { TakeSend } from '../../sending/submissions/send-quota';
import { countRecentAutomatic } from '../../sending/submissions/submission-store';

import { loadHeaders } from '../evaluation/rule-message-store';
import { MAX_REPLIES_PER_DAY, refusalOf, REPLY_INTERVAL_DAYS } from './automatic-mail';
import { prepareForward, prepareTemplateReply, type RuleMail } from './prepare-rule-mail';
import type { EvaluatedRule } from './rule-match';
import { actorOfRule, principalOfRule } from './rule-principal';
import { rememberReplies, selectRecentReplies, type ReplyKey } from './rule-reply-store';
import type { ActionOutcome } from './rule-run-store';

export interface SendDeps {
  readonly blobs: BlobStore;
  readonly takeSend: TakeSend;
}

type SendAction = Extract<RuleAction, { type: 'forward' | 'reply_with_template' }>;

interface Waiting {
  readonly run: EvaluatedRule;
  readonly index: number;
  readonly mail: RuleMail;
  readonly reply: ReplyKey | null;
}

/**
 * Sends the mail of matched rules in the caller's transaction: mail is sent if and only if its
 * run is recorded, however often the event is delivered. Fills in the outcomes.
 * @returns conversations that mail was written into; their rows have changed
 */
export async function sendRuleMail(
  tx: Transaction,
  deps: SendDeps,
  organizationId: string,
  evaluated: readonly EvaluatedRule[],
  now: number,
): Promise<Set<string>> {
  const waiting: Waiting[] = [];
  const guard = createGuard(tx, organizationId);
  for (const run of evaluated) {
    for (const [index, action] of run.rule.actions.entries()) {
      if (run.outcomes[index] !== null || !isSendAction(action)) continue;
      try {
        waiting.push(await prepare(tx, deps, organizationId, run, index, action, guard, now));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        run.outcomes[index] = outcomeOf(action, error);
      }
    }
  }
  const outcomes = await acceptWithin(
    tx,
    deps.blobs,
    organizationId,
    waiting.map(({ run, mail }) => ({
      ...mail,
      conversationId: run.conversationId,
      context: contextOf(organizationId, run),
      expectedLastMessageId: null,
    })),
  );
  const touched = new Set<string>();
  const replies: ReplyKey[] = [];
  waiting.forEach(({ run, index, reply }, position) => {
    const action = run.rule.actions[index]!;
    const outcome = outcomes[position]!;
    if ('error' in outcome) {
      if (!isRefusal(outcome.error)) throw outcome.error;
      run.outcomes[index] = outcomeOf(action, outcome.error);
      return;
    }
    touched.add(run.conversationId);
    run.outcomes[index] = { type: action.type, outcome: 'done', error: null };
    if (reply !== null) replies.push(reply);
  });
  await rememberReplies(tx, organizationId, replies, new Date(now).toISOString());
  return touched;
}

async function prepare(
  tx: Transaction,
  { blobs, takeSend }: SendDeps,
  organizationId: string,
  run: EvaluatedRule,
  index: number,
  action: SendAction,
  guard: Guard,
  now: number,
): Promise<Waiting> {
  const { message, rule, conversationId } = run;
  const headers =
    message.headers.size > 0
      ? message.headers
      : await loadHeaders(blobs, organizationId, message.rawSha256);
  const refusal = refusalOf(action.type, rule, message, headers);
  if (refusal !== null) throw new LoopRefusal(refusal);
  const facts = {
    organizationId,
    actor: actorOfRule(rule),
    principal: principalOfRule(organizationId, rule),
    message,
    conversationId,
    headers,
    now,
  };
  let mail: RuleMail;
  let reply: ReplyKey | null = null;
  if (action.type === 'forward') {
    const to = guard.newRecipients(message.id, action.to);
    mail = await prepareForward(tx, blobs, facts, to);
  } else {
    mail = await prepareTemplateReply(tx, facts, action);
    const sender = mail.prepared.recipients.to[0]!.email.toLowerCase();
    reply = { ruleId: rule.id, sender, conversationId };
    await guard.takeReply(reply);
  }
  await guard.takeAutomatic(conversationId);
  await takeSend(message.mailboxId);
  return { run, index, mail, reply };
}

/** What must not be done again, within this transaction and before it. */
interface Guard {
  /** @throws LoopRefusal when all of them have been sent the message already */
  newRecipients(messageId: string, to: readonly string[]): string[];
  /** @throws LoopRefusal */
  takeReply(key: ReplyKey): Promise<void>;
  /** @throws LoopRefusal */
  takeAutomatic(conversationId: string): Promise<void>;
}

function createGuard(tx: Transaction, organizationId: string): Guard {
  const forwarded = new Map<string, Set<string>>();
  const answered = new Set<string>();
  const answersToday = new Map<string, number>();
  const automatic = new Map<string, number>();
  return {
    newRecipients(messageId, to) {
      const already = forwarded.get(messageId) ?? new Set<string>();
      const fresh = to.filter((address) => !already.has(address.toLowerCase()));
      if (fresh.length === 0) {
        throw new LoopRefusal('Another rule has forwarded the mail to the same addresses.');
      }
      for (const address of fresh) already.add(address.toLowerCase());
      forwarded.set(messageId, already);
      return fresh;
    },
    async takeReply(key) {
      const recent = await selectRecentReplies(tx, organizationId, key);
      const here = `${key.ruleId} ${key.sender} ${key.conversationId}`;
      if (recent.inConversation || answered.has(here)) {
        throw new LoopRefusal(
          `The rule has answered ${key.sender} in this conversation within ${REPLY_INTERVAL_DAYS} days.`,
        );
      }
      const anywhere = `${key.ruleId} ${key.sender}`;
      const today = recent.today + (answersToday.get(anywhere) ?? 0);
      if (today >= MAX_REPLIES_PER_DAY) {
        throw new LoopRefusal(
          `The rule has answered ${key.sender} ${today} times within 24 hours, which looks like a loop.`,
        );
      }
      answered.add(here);
      answersToday.set(anywhere, (answersToday.get(anywhere) ?? 0) + 1);
    },
    async takeAutomatic(conversationId) {
      const count =
        automatic.get(conversationId) ??
        (await countRecentAutomatic(tx, organizationId, conversationId));
      if (count >= MAX_AUTOMATIC_PER_HOUR) {
        throw new LoopRefusal(
          `The conversation has had ${count} automatic messages within an hour, which looks like a loop.`,
        );
      }
      automatic.set(conversationId, count + 1);
    },
  };
}

/** A loop guard says no; the action is skipped, which is no failure. */
class LoopRefusal extends DomainError {
  override readonly name = 'LoopRefusal';
  constructor(message: string) {
    super('refused', 'loop_suspected', message);
  }
}

/** Refuses this mail alone. An outage is temporary, so it fails the whole event, which is retried. */
function isRefusal(error: unknown): error is DomainError {
  return (
    error instanceof DomainError &&
    error.kind !== 'unavailable' &&
    error.kind !== 'deadline_exceeded'
  );
}

function outcomeOf(action: RuleAction, error: DomainError): ActionOutcome {
  const isLoop = error.code === 'loop_suspected';
  return { type: action.type, outcome: isLoop ? 'skipped' : 'failed', error: error.message };
}

function isSendAction(action: RuleAction): action is SendAction {
  return action.type === 'forward' || action.type === 'reply_with_template';
}

/** The operations want the context of a call; a rule has no client that could repeat or cancel it. */
function contextOf(organizationId: string, run: EvaluatedRule): CallContext {
  return {
    principal: principalOfRule(organizationId, run.rule),
    requestId: run.runId,
    deadline: Number.MAX_SAFE_INTEGER,
    signal: new AbortController().signal,
    idempotency: null,
    traceparent: run.arrival.traceparent,
  };
}
