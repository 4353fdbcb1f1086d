import { RULE_KINDS, RULE_MATCHES, type RuleActionType, type RuleKind } from '@dak/contracts/api';
import type { RuleDefinition as RuleMessage } from '@dak/contracts/mail';
import { InvalidError, isUuid } from '@dak/kernel';
import { parseActions } from './parse-actions';
import { parseConditions } from './parse-conditions';
import type { RuleDefinition } from './rule';

const MAX_NAME = 200;
const MAX_MAILBOXES = 500;
const MAX_PRIORITY = 1_000_000;

/** What a rule of a kind does, one of them at least; `automation` is for everything else. */
const ACTIONS_OF_KIND: Readonly<Record<RuleKind, readonly RuleActionType[] | null>> = {
  routing: [
    'assign',
    'set_department',
    'set_status',
    'set_priority',
    'set_disposition',
    'snooze',
    'forward',
  ],
  forwarding: ['forward'],
  labeling: ['add_labels', 'remove_labels'],
  department: ['set_department'],
  automation: null,
};

/**
 * A rule as it was sent, checked but for what other tables know: mailboxes, templates, users.
 * @throws InvalidError naming the member
 */
export function parseRule(sent: RuleMessage, now: number): RuleDefinition {
  const kind = oneOf('kind', RULE_KINDS, sent.kind);
  const rule: RuleDefinition = {
    name: nameOf(sent.name),
    kind,
    enabled: sent.enabled,
    priority: priorityOf(sent.priority),
    mailbox_ids: mailboxIdsOf(sent.mailboxIds),
    match: oneOf('match', RULE_MATCHES, sent.match),
    conditions: parseConditions(sent.conditionsJson),
    actions: parseActions(sent.actionsJson, now),
    stop: sent.stop,
  };
  checkKind(rule);
  return rule;
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
  const has = (field: string) => fields.includes(field);
  const rule: RuleDefinition = {
    name: has('name') ? nameOf(sent.name) : current.name,
    kind: has('kind') ? oneOf('kind', RULE_KINDS, sent.kind) : current.kind,
    enabled: has('enabled') ? sent.enabled : current.enabled,
    priority: has('priority') ? priorityOf(sent.priority) : current.priority,
    mailbox_ids: has('mailbox_ids') ? mailboxIdsOf(sent.mailboxIds) : current.mailbox_ids,
    match: has('match') ? oneOf('match', RULE_MATCHES, sent.match) : current.match,
    conditions: has('conditions') ? parseConditions(sent.conditionsJson) : current.conditions,
    actions: has('actions') ? parseActions(sent.actionsJson, now) : current.actions,
    stop: has('stop') ? sent.stop : current.stop,
  };
  checkKind(rule);
  return rule;
}

/** Only what a rule is made of, for comparing and for versions. */
export function definitionOf(rule: RuleDefinition): RuleDefinition {
  const { name, kind, enabled, priority, mailbox_ids, match, conditions, actions, stop } = rule;
  return { name, kind, enabled, priority, mailbox_ids, match, conditions, actions, stop };
}

function checkKind({ kind, actions }: RuleDefinition): void {
  const needed = ACTIONS_OF_KIND[kind];
  if (needed === null || actions.some(({ type }) => needed.includes(type))) return;
  throw new InvalidError(
    needed.length === 1
      ? `actions must have ${needed[0]} in a rule of the kind ${kind}: add it, or choose the kind automation.`
      : `actions must have one of ${needed.join(', ')} in a rule of the kind ${kind}: add one, or choose the kind automation.`,
  );
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw new InvalidError(`name must be one line of 1 to ${MAX_NAME} characters.`);
  }
  return name;
}

function priorityOf(priority: number): number {
  if (Math.abs(priority) > MAX_PRIORITY) {
    throw new InvalidError(`priority must be an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}.`);
  }
  return priority;
}

function mailboxIdsOf(ids: readonly string[]): string[] {
  if (ids.length > MAX_MAILBOXES) {
    throw new InvalidError(`mailbox_ids must have at most ${MAX_MAILBOXES} elements.`);
  }
  ids.forEach((id, index) => {
    if (!isUuid(id)) throw new InvalidError(`mailbox_ids[${index}] must be a UUID.`);
  });
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function oneOf<T extends string>(at: string, known: readonly T[], value: unknown): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new InvalidError(`${at} must be one of ${known.join(', ')}.`);
  return found;
}
