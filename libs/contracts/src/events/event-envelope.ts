import { uuidv7 } from '@dak/kernel';
import type { EventEnvelope } from '../generated/dak/events/v1/envelope';
import { encodeEventData, type EventMessage } from './public-event';
import type { EventKind } from './topics';

/** Where, when and why an event happened. */
export interface EnvelopeFacts {
  /** The service that emits it. */
  source: string;
  organizationId: string;
  mailboxId?: string | null | undefined;
  departmentId?: string | null | undefined;
  conversationId?: string | null | undefined;
  messageId?: string | null | undefined;
  /** Events with the same key keep their order. */
  partitionKey: string;
  sequence: number;
  /** Milliseconds since the epoch. */
  occurredAt: number;
  actor: { type: string; id: string | null; name: string };
  causationId?: string | null | undefined;
  /** Events between the first cause and this one. @default 0 */
  causationDepth?: number | undefined;
  /** W3C trace context. */
  traceparent?: string | null | undefined;
}

/** A new event of the API, as it is put into an outbox. */
export function eventEnvelope<K extends EventKind>(
  kind: K,
  facts: EnvelopeFacts,
  data: EventMessage<K>,
): EventEnvelope {
  const { actor } = facts;
  return {
    id: `evt_${uuidv7()}`,
    type: kind,
    source: facts.source,
    organizationId: facts.organizationId,
    mailboxId: facts.mailboxId ?? undefined,
    departmentId: facts.departmentId ?? undefined,
    conversationId: facts.conversationId ?? undefined,
    messageId: facts.messageId ?? undefined,
    partitionKey: facts.partitionKey,
    sequence: facts.sequence,
    occurredAt: new Date(facts.occurredAt),
    actor: { type: actor.type, id: actor.id ?? '', name: actor.name },
    causationId: facts.causationId ?? undefined,
    causationDepth: facts.causationDepth ?? 0,
    traceparent: facts.traceparent ?? undefined,
    dataVersion: 1,
    ...encodeEventData(kind, data),
  };
}
