import {
  BounceReceived,
  ComplaintReceived,
  ConversationUpdated,
  type EventEnvelope,
  MailFailed,
  MailReceived,
  MailSent,
  RuleMatched,
  type EventKind,
} from '@dak/contracts/events';
import { type Actor, uuidv7 } from '@dak/kernel';
import { appendToOutbox } from '@dak/platform/log';
import type { SqlExecutor } from '@dak/platform/postgres';

/** Where an event belongs, as of the event. */
export interface ConversationFacts {
  organizationId: string;
  mailboxId: string;
  departmentId: string | null;
  conversationId: string;
}

export interface EventFacts extends ConversationFacts {
  messageId: string | null;
  /** From the conversation's `event_sequence`, taken under its row lock. */
  sequence: number;
  /** Milliseconds since the epoch. */
  occurredAt: number;
  actor: Actor;
  causationId?: string | null;
  /** Events between the first cause and this one. @default 0 */
  causationDepth?: number;
}

/** One visible field of a conversation, by its API name. */
export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

export function mailReceivedEvent(facts: EventFacts, data: MailReceived): EventEnvelope {
  return envelope('mail.received', 'dak.events.v1.MailReceived', facts, encode(MailReceived, data));
}

export function mailSentEvent(facts: EventFacts, data: MailSent): EventEnvelope {
  return envelope('mail.sent', 'dak.events.v1.MailSent', facts, encode(MailSent, data));
}

export function mailFailedEvent(facts: EventFacts, data: MailFailed): EventEnvelope {
  return envelope('mail.failed', 'dak.events.v1.MailFailed', facts, encode(MailFailed, data));
}

export function bounceReceivedEvent(facts: EventFacts, data: BounceReceived): EventEnvelope {
  const bytes = encode(BounceReceived, data);
  return envelope('bounce.received', 'dak.events.v1.BounceReceived', facts, bytes);
}

export function complaintReceivedEvent(facts: EventFacts, data: ComplaintReceived): EventEnvelope {
  const bytes = encode(ComplaintReceived, data);
  return envelope('complaint.received', 'dak.events.v1.ComplaintReceived', facts, bytes);
}

export function conversationUpdatedEvent(
  facts: EventFacts,
  reason: string,
  changes: readonly FieldChange[],
): EventEnvelope {
  const data: ConversationUpdated = {
    reason,
    changes: changes.map(({ field, before, after }) => ({
      field,
      beforeJson: JSON.stringify(before ?? null),
      afterJson: JSON.stringify(after ?? null),
    })),
  };
  return envelope(
    'conversation.updated',
    'dak.events.v1.ConversationUpdated',
    facts,
    encode(ConversationUpdated, data),
  );
}

export function ruleMatchedEvent(facts: EventFacts, data: RuleMatched): EventEnvelope {
  return envelope('rule.matched', 'dak.events.v1.RuleMatched', facts, encode(RuleMatched, data));
}

/** Writes the events into the outbox, in the transaction of the change; the row lock of their conversations is held. */
export async function appendMailEvents(
  tx: SqlExecutor,
  events: readonly EventEnvelope[],
): Promise<void> {
  if (events.length === 0) return;
  await appendToOutbox(tx, events);
}

function envelope(
  type: EventKind,
  dataSchema: string,
  facts: EventFacts,
  data: Buffer,
): EventEnvelope {
  return {
    id: `evt_${uuidv7()}`,
    type,
    source: 'mail',
    organizationId: facts.organizationId,
    mailboxId: facts.mailboxId,
    departmentId: facts.departmentId ?? undefined,
    conversationId: facts.conversationId,
    messageId: facts.messageId ?? undefined,
    partitionKey: `${facts.organizationId}:${facts.conversationId}`,
    sequence: facts.sequence,
    occurredAt: new Date(facts.occurredAt),
    actor: { type: facts.actor.type, id: facts.actor.id ?? '', name: facts.actor.name },
    causationId: facts.causationId ?? undefined,
    causationDepth: facts.causationDepth ?? 0,
    dataSchema,
    dataVersion: 1,
    data,
  };
}

function encode<T>(codec: { encode(message: T): { finish(): Uint8Array } }, message: T): Buffer {
  const bytes = codec.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
