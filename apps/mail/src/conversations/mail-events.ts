import {
  eventEnvelope,
  type EventEnvelope,
  type EventKind,
  type EventMessage,
} from '@dak/contracts/events';
import type { Actor } from '@dak/kernel';
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
  /** W3C trace context. @default that of the span around the write */
  traceparent?: string | null | undefined;
}

/** One visible field of a conversation, by its API name. */
export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

/** An event of a conversation. */
export function mailEvent<K extends EventKind>(
  kind: K,
  facts: EventFacts,
  data: EventMessage<K>,
): EventEnvelope {
  const partitionKey = `${facts.organizationId}:${facts.conversationId}`;
  return eventEnvelope(kind, { ...facts, source: 'mail', partitionKey }, data);
}

export function conversationUpdatedEvent(
  facts: EventFacts,
  reason: string,
  changes: readonly FieldChange[],
): EventEnvelope {
  return mailEvent('conversation.updated', facts, {
    reason,
    changes: changes.map(({ field, before, after }) => ({
      field,
      beforeJson: JSON.stringify(before ?? null),
      afterJson: JSON.stringify(after ?? null),
    })),
  });
}

/** Writes the events into the outbox, in the transaction of the change; the row lock of their conversations is held. */
export async function appendMailEvents(
  tx: SqlExecutor,
  events: readonly EventEnvelope[],
): Promise<void> {
  if (events.length === 0) return;
  await appendToOutbox(tx, events);
}
