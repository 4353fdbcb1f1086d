import type { CreateRule, RuleActionType } from '@dak/contracts/api';
import type { Role } from '@dak/kernel';

/** The part of a rule that its author writes. */
export type RuleDefinition = Readonly<CreateRule>;

/** On whose behalf a rule acts, as they were when they last saved it. */
export interface RuleOwner {
  readonly userId: string;
  readonly userName: string;
  readonly role: Role;
  readonly departmentIds: readonly string[];
}

export interface Rule extends RuleDefinition {
  readonly id: string;
  readonly version: number;
  readonly owner: RuleOwner;
  /** API keys that made or changed it; it stops with each of them. null = none. */
  readonly key_ids: readonly string[] | null;
  /** Why Dak has stopped it; null = it has not. */
  readonly disabled_reason: 'key_revoked' | null;
  /** RFC 3339 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** Actions that send mail, which needs more access and passes the loop guards. */
export function isSend(type: RuleActionType): type is 'forward' | 'reply_with_template' {
  return type === 'forward' || type === 'reply_with_template';
}

/** The order in which rules run. */
export function byOrder(a: Rule, b: Rule): number {
  return a.priority - b.priority || compare(a.created_at, b.created_at) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function covers(rule: Pick<RuleDefinition, 'mailbox_ids'>, mailboxId: string): boolean {
  return rule.mailbox_ids.length === 0 || rule.mailbox_ids.includes(mailboxId);
}

/** Clocks of services differ; so much earlier than a rule a mail may seem to be. */
const CLOCK_SKEW_MS = 1_000;

/** Whether the rule was there when something happened, however late its event is read. */
export function existedAt(rule: Pick<Rule, 'created_at'>, occurredAt: number): boolean {
  return Date.parse(rule.created_at) <= occurredAt + CLOCK_SKEW_MS;
}
