import { mayGet } from '../visibility/scopes-of-makers';

/** The facts of an endpoint that decide whether it gets an event. */
export interface EndpointInterest {
  endpointId: string;
  ownerUserId: string;
  /** The owner sees everything of the organization. */
  ownerIsAdmin: boolean;
  /** Empty = all. */
  eventTypes: readonly string[];
  /** Empty = all that the owner sees. */
  mailboxIds: readonly string[];
  /** Scopes of the keys that made or changed it; null = all of the owner's. */
  makerScopes: readonly string[] | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

export interface EventFacts {
  type: string;
  mailboxId: string | null;
  conversationId: string | null;
  /** Milliseconds since the epoch. */
  occurredAt: number;
  /** Endpoints that a rule notifies, whatever kinds they subscribe to. */
  notifyWebhookIds: readonly string[];
  /** The event reveals a blind copy. */
  needsSend: boolean;
}

export type Interest =
  /** The endpoint gets the event. */
  | 'matches'
  /** The endpoint gets the event if its owner may read the conversation. */
  | 'if_readable'
  | 'none';

/** Clocks of services differ by up to this much. */
const CLOCK_SKEW_MS = 1_000;

/** Whether an endpoint wants an event and, as far as known here, may get it. */
export function interestIn(event: EventFacts, endpoint: EndpointInterest): Interest {
  // Events that happened before the endpoint was made are not sent, however late they are read.
  if (endpoint.createdAt > event.occurredAt + CLOCK_SKEW_MS) return 'none';
  const isNamed = event.notifyWebhookIds.includes(endpoint.endpointId);
  if (!isNamed && !wants(event, endpoint)) return 'none';
  if (!mayGet(endpoint.makerScopes, event)) return 'none';
  if (endpoint.ownerIsAdmin) return 'matches';
  // Events outside of conversations are for administrators.
  return event.conversationId === null ? 'none' : 'if_readable';
}

function wants(event: EventFacts, { eventTypes, mailboxIds }: EndpointInterest): boolean {
  if (eventTypes.length > 0 && !eventTypes.includes(event.type)) return false;
  if (mailboxIds.length === 0) return true;
  return event.mailboxId !== null && mailboxIds.includes(event.mailboxId);
}
