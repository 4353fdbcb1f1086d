import type { Rule } from '../definition/rule';
import type { Evaluation } from '../evaluation/evaluate-rule';
import type { StoredRuleMessage } from '../evaluation/rule-message-store';
import type { ActionOutcome } from './rule-run-store';

/** A message that arrived, as the rules consumer takes it from its event. */
export interface Arrival {
  /** `mail.received`. */
  readonly eventId: string;
  readonly messageId: string;
  readonly mailboxId: string;
  /** Time of its event, milliseconds since the epoch. */
  readonly occurredAt: number;
  readonly causationDepth: number;
  /** W3C trace context; null without tracing. */
  readonly traceparent: string | null;
  readonly imported: boolean;
}

/** One rule applied to one message; `outcomes` has one entry per action of a rule that matched, null until known. */
export interface EvaluatedRule {
  readonly runId: string;
  readonly rule: Rule;
  readonly arrival: Arrival;
  readonly message: StoredRuleMessage;
  /** Where the message is; it may move until the conversation is locked. */
  conversationId: string;
  readonly evaluation: Evaluation;
  readonly outcomes: (ActionOutcome | null)[];
}
