import type { EventEnvelope, EventKind } from '@dak/contracts/events';
import { eventBody, isOfBlindCopy, publicEvent } from '@dak/contracts/events';

/** An event as the feed keeps it: what people see of it, and what decides who does. */
export interface FeedItem {
  readonly organizationId: string;
  readonly eventId: string;
  readonly type: EventKind;
  readonly mailboxId: string | null;
  readonly departmentId: string | null;
  /** null: it is about the organization, and for its administrators. */
  readonly conversationId: string | null;
  /** The event reveals a blind copy, so it is only for callers who may send in this conversation; null = it does not. */
  readonly needsSend: boolean | null;
  /** The public event as JSON, without line breaks. */
  readonly body: string;
}

/** An item with its position. An organization's positions have no gaps and define the only order. */
export interface PlacedItem extends FeedItem {
  readonly position: number;
}

/** null for a kind that this version does not know. */
export function toFeedItem(event: EventEnvelope): FeedItem | null {
  const seen = publicEvent(event);
  if (seen === null) return null;
  return {
    organizationId: event.organizationId,
    eventId: event.id,
    type: seen.type,
    mailboxId: event.mailboxId ?? null,
    departmentId: event.departmentId ?? null,
    conversationId: event.conversationId ?? null,
    needsSend: isOfBlindCopy(event),
    body: eventBody(seen).toString('utf8'),
  };
}
