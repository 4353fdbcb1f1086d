import {
  CONVERSATION_LIMITS,
  CreateRule,
  formatRecipient,
  missingAction,
  parseRecipient,
  UpdateRule,
  type RuleAction,
  type RuleCondition,
} from '@dak/contracts/api';
import type { RuleDefinition as RuleMessage } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { InvalidError } from '@dak/kernel';
import type { RuleDefinition } from './rule';
import { checkPattern, checkProgram } from './rule-pattern';

const { snooze_days: MAX_SNOOZE_DAYS } = CONVERSATION_LIMITS;
const DAY = 86_400_000;

/**
 * A new rule, checked but for what tables know: mailboxes, templates, users.
 * @throws InvalidError naming the member
 */
export function parseRule(sent: RuleMessage, now: number): RuleDefinition {
  const rule = parseRequest(CreateRule, requestOf(sent));
  return { ...rule, ...judged(rule, now) };
}

/**
 * The rule with the fields that were sent, the others as they are.
 * @throws InvalidError naming the member
 */
export function patchRule(
  current: RuleDefinition,
  fields: readonly string[],
  sent: RuleMessage,
  now: number,
): RuleDefinition {
  const patch = parseRequest(UpdateRule, requestOf(sent, fields));
  const rule: RuleDefinition = { ...current, ...patch, ...judged(patch, now) };
  const missing = missingAction(rule.kind, rule.actions);
  if (missing !== null) throw new InvalidError(`actions ${missing}`);
  return definitionOf(rule);
}

/** Only the definition's fields, for comparing and for versions. */
export function definitionOf(rule: RuleDefinition): RuleDefinition {
  const { name, kind, enabled, priority, mailbox_ids, match, conditions, actions, stop } = rule;
  return { name, kind, enabled, priority, mailbox_ids, match, conditions, actions, stop };
}

/** Checks beyond the schema: patterns can be run, times are ahead, addresses are deliverable. */
function judged(
  { conditions, actions }: UpdateRule,
  now: number,
): Partial<Pick<RuleDefinition, 'conditions' | 'actions'>> {
  if (conditions !== undefined) checkPatterns(conditions);
  return {
    ...(conditions && { conditions }),
    ...(actions && {
      actions: actions.map((action, index) => judgedAction(`actions[${index}]`, action, now)),
    }),
  };
}

function checkPatterns(conditions: readonly RuleCondition[]): void {
  const sizes = conditions.map(({ operator, value }, index) =>
    operator === 'matches' ? checkPattern(`conditions[${index}].value`, String(value)) : 0,
  );
  checkProgram(sizes.reduce((sum, size) => sum + size, 0));
}

function judgedAction(at: string, action: RuleAction, now: number): RuleAction {
  if (action.type === 'snooze' && 'until' in action) {
    const ahead = Date.parse(action.until) - now;
    if (ahead > 0 && ahead <= MAX_SNOOZE_DAYS * DAY) return action;
    throw new InvalidError(
      `${at}.until must be an RFC 3339 date-time in the future, at most ${MAX_SNOOZE_DAYS} days ahead.`,
    );
  }
  if (action.type !== 'forward') return action;
  const to = action.to.map((one, index) =>
    formatRecipient(parseRecipient(one, `${at}.to[${index}]`)),
  );
  return { ...action, to };
}
