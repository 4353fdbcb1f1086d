import type { RuleTestRecord } from '@dak/contracts/api';
import {
  RuleDefinition as RuleFields,
  type Document,
  type TestRuleRequest,
} from '@dak/contracts/mail';
import { DomainError, InvalidError, NotFoundError, isUuid, type Principal } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from '../../conversations/conversation-row';
import { loadConversation } from '../../conversations/visible-conversation-store';
import { checkReferences } from '../definition/check-references';
import { loadRule } from '../definition/load-rule';
import { parseRule } from '../definition/parse-rule';
import { covers, isSend, type RuleDefinition } from '../definition/rule';
import type { RuleDeps } from '../definition/rule-deps';
import { neededFacts } from '../definition/rule-fields';
import { evaluateRule } from '../evaluation/evaluate-rule';
import { matchInPlace, type PatternMatcher } from '../evaluation/pattern-matcher';
import { patternTestsOf } from '../evaluation/pattern-tests';
import {
  loadHeaders,
  loadRuleMessages,
  selectConversationIds,
  type StoredRuleMessage,
} from '../evaluation/rule-message-store';
import { refusalOf } from '../runs/automatic-mail';
import { changesConversation, decideAction } from '../runs/decide-action';

export type TestDeps = Pick<RuleDeps, 'database' | 'blobs' | 'clock'> & {
  /** @default where it is called */
  readonly patterns?: PatternMatcher;
};

/**
 * Whether a rule, stored or only written down, matches a message, with the verdict of every condition
 * and the actions it would run. No action is carried out.
 * @throws NotFoundError for a message that the caller does not see
 */
export async function testRule(
  { database, blobs, clock, patterns = matchInPlace }: TestDeps,
  request: TestRuleRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  const { messageId } = request;
  if (!isUuid(messageId)) throw new InvalidError('message_id must be a UUID.');
  const now = clock();
  const record = await database.inTenant(organizationId, async (tx): Promise<RuleTestRecord> => {
    const rule = await ruleOf(tx, principal, request.subject, now);
    const placed = await selectConversationIds(tx, organizationId, [messageId]);
    const conversationId = placed.get(messageId.toLowerCase());
    if (conversationId === undefined) throw new NotFoundError('message');
    const conversation = await visibleConversation(tx, principal, conversationId);
    const needed = neededFacts([rule]);
    const messages = await loadRuleMessages(tx, blobs, organizationId, [messageId], needed);
    const message = messages.get(messageId.toLowerCase());
    if (message === undefined) {
      throw new InvalidError('message_id must be a received message: rules look at no others.');
    }
    const answers = await patterns.match(organizationId, patternTestsOf([rule], message));
    const evaluation = evaluateRule(rule, message, conversation.labels, answers);
    const headers = rule.actions.some(({ type }) => isSend(type))
      ? await loadHeaders(blobs, organizationId, message.rawSha256)
      : message.headers;
    return {
      matched: evaluation.matched,
      applies: covers(rule, message.mailboxId),
      conditions: [...evaluation.conditions],
      actions: evaluation.matched ? plan(rule, { ...message, headers }, conversation, now) : [],
    };
  });
  return { id: '', version: 0, json: jsonBytes(record), replayed: false };
}

/** The rule that a request means: a stored one, or one that is not stored. */
export async function ruleOf(
  tx: SqlExecutor,
  principal: Principal,
  subject: TestRuleRequest['subject'],
  now: number,
): Promise<RuleDefinition & { readonly id: string | null }> {
  switch (subject?.$case) {
    case 'ruleId': {
      const { rule } = await loadRule(tx, principal, subject.value);
      return rule;
    }
    case 'rule': {
      const rule = parseRule(RuleFields.fromPartial(subject.value), now);
      await checkReferences(tx, principal, rule);
      return { ...rule, id: null };
    }
    case undefined:
      throw new InvalidError('rule or rule_id is missing: send one of them.');
  }
}

async function visibleConversation(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
): Promise<ConversationRow> {
  try {
    return await loadConversation(tx, principal, id, 'read');
  } catch (error) {
    // The caller has asked for a message, not for its conversation.
    if (error instanceof NotFoundError) throw new NotFoundError('message');
    throw error;
  }
}

function plan(
  rule: RuleDefinition,
  message: StoredRuleMessage,
  conversation: ConversationRow,
  now: number,
): RuleTestRecord['actions'] {
  let row = conversation;
  return rule.actions.map((action) => {
    if (isSend(action.type)) {
      const refusal = refusalOf(action.type, rule, message, message.headers);
      return {
        type: action.type,
        outcome: refusal === null ? ('planned' as const) : ('skipped' as const),
        error: refusal,
      };
    }
    if (!changesConversation(action)) {
      return { type: action.type, outcome: 'planned' as const, error: null };
    }
    try {
      row = decideAction(row, action, now).after;
      return { type: action.type, outcome: 'planned' as const, error: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { type: action.type, outcome: 'failed' as const, error: error.message };
    }
  });
}
