import { mayGet } from '../visibility/scopes-of-makers';

/** What fan-out needs to know of an endpoint that may get events. */
export interface EndpointInterest {
  endpointId: string;
  ownerUserId: string;
  /** The owner sees everything of the organization. */
  ownerIsAdmin: boolean;
  /** Empty = all. */
  eventTypes: readonly string[];
  /** Empty = all that the owner sees. */
  mailboxIds: readonly string[];
  /** Of the keys that made it; null = all of the owner's. */
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
  /** Endpoints that a rule asked to be told, whatever kinds they subscribe to. */
  notifyWebhookIds: readonly string[];
  /** It tells of a blind copy. */
  needsSend: boolean;
}

export type Interest =
  /** Goes out. */
  | 'matches'
  /** Goes out if the owner may read the conversation. */
  | 'if_readable'
  | 'none';

/** Clocks of services differ; so much earlier than its endpoint an event may seem to be. */
const CLOCK_SKEW_MS = 1_000;

/** Whether an endpoint wants an event and, so far as can be told here, may have it. */
export function interestIn(event: EventFacts, endpoint: EndpointInterest): Interest {
  // However late it is read: what was before an endpoint is for nobody who made it since.
  if (endpoint.createdAt > event.occurredAt + CLOCK_SKEW_MS) return 'none';
  const isNamed = event.notifyWebhookIds.includes(endpoint.endpointId);
  if (!isNamed && !wants(event, endpoint)) return 'none';
  if (!mayGet(endpoint.makerScopes, event)) return 'none';
  if (endpoint.ownerIsAdmin) return 'matches';
  // What happened outside of conversations is for administrators.
  return event.conversationId === null ? 'none' : 'if_readable';
}

function wants(event: EventFacts, { eventTypes, mailboxIds }: EndpointInterest): boolean {
  if (eventTypes.length > 0 && !eventTypes.includes(event.type)) return false;
  if (mailboxIds.length === 0) return true;
  return event.mailboxId !== null && mailboxIds.includes(event.mailboxId);
}
