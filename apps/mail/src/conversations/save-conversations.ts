import type { EventEnvelope } from '@dak/contracts/events';
import type { Actor } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { insertActivity, type ActivityEntry } from './activity-store';
import { changedFields } from './conversation-changes';
import type { ConversationRow } from './conversation-row';
import { insertConversations, updateConversations } from './conversation-store';
import { appendMailEvents, conversationUpdatedEvent, type EventFacts } from './mail-events';

/** One conversation before and after a change; the reader of `before` holds its row lock. */
export interface ConversationChange {
  /** Null for a new conversation. */
  before: ConversationRow | null;
  after: ConversationRow;
  /** Reason in the `conversation.updated` event. */
  reason: string;
  actor: Actor;
  activity: readonly ActivityEntry[];
  /** The event that led to this change, where one did. */
  cause?: EventCause;
  /** Trace context of the change's cause, for its events. @default that of the span around the write */
  traceparent?: string | null | undefined;
  /** Events of messages in it; they are numbered before `conversation.updated`. */
  messageEvents?: readonly MessageEvent[];
}

export interface EventCause {
  id: string;
  /** Events between the first cause and this change. */
  depth: number;
}

export interface MessageEvent {
  messageId: string;
  actor: Actor;
  /** @default that of the change */
  traceparent?: string | null | undefined;
  build(facts: EventFacts): EventEnvelope;
}

/**
 * Stores changed conversations with their activity and their events, in a handful of statements
 * however many there are. A change that alters nothing and says nothing is left out.
 * @returns the rows as stored, in the order of `changes`
 */
export async function saveConversations(
  tx: SqlExecutor,
  organizationId: string,
  changes: readonly ConversationChange[],
  now: number,
): Promise<ConversationRow[]> {
  const at = new Date(now).toISOString();
  const inserted: ConversationRow[] = [];
  const updated: ConversationRow[] = [];
  const events: EventEnvelope[] = [];
  const saved = changes.map((change) => {
    const fields = changedFields(change.before, change.after);
    const messageEvents = change.messageEvents ?? [];
    if (fields.length + messageEvents.length + change.activity.length === 0) return change.after;
    const row: ConversationRow = {
      ...change.after,
      version: change.before === null ? 1 : change.before.version + 1,
      event_sequence:
        change.after.event_sequence + messageEvents.length + (fields.length > 0 ? 1 : 0),
      updated_at: at,
    };
    let sequence = change.after.event_sequence;
    const facts = (
      messageId: string | null,
      actor: Actor,
      traceparent = change.traceparent,
    ): EventFacts => ({
      organizationId,
      mailboxId: row.mailbox_id,
      departmentId: row.department_id,
      conversationId: row.id,
      messageId,
      sequence: (sequence += 1),
      occurredAt: now,
      actor,
      traceparent,
      ...(change.cause === undefined
        ? {}
        : { causationId: change.cause.id, causationDepth: change.cause.depth }),
    });
    for (const event of messageEvents)
      events.push(event.build(facts(event.messageId, event.actor, event.traceparent)));
    if (fields.length > 0) {
      events.push(conversationUpdatedEvent(facts(null, change.actor), change.reason, fields));
    }
    (change.before === null ? inserted : updated).push(row);
    return row;
  });
  await Promise.all([
    insertConversations(tx, organizationId, inserted),
    updateConversations(tx, organizationId, updated),
    insertActivity(
      tx,
      organizationId,
      changes.flatMap((change) =>
        change.activity.map((entry) => ({
          ...entry,
          conversationId: change.after.id,
          actor: change.actor,
        })),
      ),
      at,
    ),
    appendMailEvents(tx, events),
  ]);
  return saved;
}
