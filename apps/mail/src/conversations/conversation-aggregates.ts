import type { AddressRecord, MessageRecord } from '@dak/contracts/api';
import type { Participant } from './conversation-row';

/** A message's contribution to its conversation's totals. */
export interface MessageFacts {
  id: string;
  /** RFC 3339 UTC with milliseconds, so that text order is time order. */
  sort_at: string;
  direction: MessageRecord['direction'];
  status: MessageRecord['status'];
  is_automatic: boolean;
  is_bounce: boolean;
  has_injection_signals: boolean;
  from: AddressRecord | null;
  to: readonly AddressRecord[];
  cc: readonly AddressRecord[];
  preview: string;
  unread: boolean;
  attachment_count: number;
  size_bytes: number;
}

export interface ConversationAggregates {
  message_count: number;
  unread_count: number;
  attachment_count: number;
  size_bytes: number;
  preview: string;
  last_message_id: string | null;
  last_message_at: string;
  last_inbound_at: string | null;
  last_outbound_at: string | null;
  first_response_at: string | null;
  /** The oldest unanswered inbound message. */
  waiting_since: string | null;
  participants: Participant[];
  system_labels: string[];
}

const MAX_PARTICIPANTS = 50;
/** Outbound mail in these states has not left and may never leave. */
const NOT_RELEASED: ReadonlySet<string> = new Set([
  'draft',
  'awaiting_approval',
  'scheduled',
  'canceled',
]);

export function isReleased(message: Pick<MessageFacts, 'direction' | 'status'>): boolean {
  return message.direction !== 'outbound' || !NOT_RELEASED.has(message.status);
}

/** @param createdAt where a conversation without mail that has left or arrived stands in lists */
export function noMessages(createdAt: string): ConversationAggregates {
  return {
    message_count: 0,
    unread_count: 0,
    attachment_count: 0,
    size_bytes: 0,
    preview: '',
    last_message_id: null,
    last_message_at: createdAt,
    last_inbound_at: null,
    last_outbound_at: null,
    first_response_at: null,
    waiting_since: null,
    participants: [],
    system_labels: [],
  };
}

/** True when the message comes after everything that `state` has seen, so that it may be appended. */
export function isNext(
  state: ConversationAggregates,
  message: Pick<MessageFacts, 'sort_at' | 'id'>,
): boolean {
  if (state.last_message_id === null) return true;
  return (
    message.sort_at > state.last_message_at ||
    (message.sort_at === state.last_message_at && message.id > state.last_message_id)
  );
}

/** Messages must come in order of `sort_at`, `id`; `mailboxAddress` distinguishes our side from the other. */
export function appendMessage(
  state: ConversationAggregates,
  message: MessageFacts,
  mailboxAddress: string,
): ConversationAggregates {
  const counted: ConversationAggregates = {
    ...state,
    message_count: state.message_count + 1,
    unread_count: state.unread_count + (message.unread ? 1 : 0),
    attachment_count: state.attachment_count + message.attachment_count,
    size_bytes: state.size_bytes + message.size_bytes,
  };
  // Notes and unsent mail count, but have no recipients yet.
  if (message.direction === 'internal_note' || !isReleased(message)) {
    return { ...counted, system_labels: systemLabels(counted, message) };
  }
  const next: ConversationAggregates = {
    ...counted,
    preview: message.preview,
    last_message_id: message.id,
    last_message_at: message.sort_at,
    participants: withParticipants(state.participants, message, mailboxAddress),
  };
  if (message.direction === 'inbound') {
    next.last_inbound_at = message.sort_at;
    if (!message.is_automatic) next.waiting_since = state.waiting_since ?? message.sort_at;
  } else {
    next.last_outbound_at = message.sort_at;
    if (!message.is_automatic) {
      next.waiting_since = null;
      if (state.last_inbound_at !== null) next.first_response_at ??= message.sort_at;
    }
  }
  next.system_labels = systemLabels(next, message);
  return next;
}

/** All of a conversation at once. */
export function aggregate(
  messages: readonly MessageFacts[],
  createdAt: string,
  mailboxAddress: string,
): ConversationAggregates {
  const ordered = [...messages].sort(byPosition);
  return ordered.reduce(
    (state, message) => appendMessage(state, message, mailboxAddress),
    noMessages(ordered[0]?.sort_at ?? createdAt),
  );
}

export function byPosition(
  a: Pick<MessageFacts, 'sort_at' | 'id'>,
  b: Pick<MessageFacts, 'sort_at' | 'id'>,
): number {
  if (a.sort_at !== b.sort_at) return a.sort_at < b.sort_at ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** Facts that were true once stay; `unread`, `has_attachment` follow the counts. */
function systemLabels(state: ConversationAggregates, message: MessageFacts): string[] {
  const before = new Set(state.system_labels);
  const labels: string[] = [];
  if (state.unread_count > 0) labels.push('unread');
  if (state.attachment_count > 0) labels.push('has_attachment');
  if (before.has('auto_generated') || (message.is_automatic && message.direction === 'inbound')) {
    labels.push('auto_generated');
  }
  if (before.has('bounced') || message.is_bounce || message.status === 'bounced') {
    labels.push('bounced');
  }
  if (before.has('injection_suspected') || message.has_injection_signals) {
    labels.push('injection_suspected');
  }
  return labels;
}

function withParticipants(
  known: readonly Participant[],
  message: MessageFacts,
  mailboxAddress: string,
): Participant[] {
  const byEmail = new Map(known.map((participant) => [participant.email, participant]));
  const isInbound = message.direction === 'inbound';
  const note = (address: AddressRecord, role: Participant['role']) => {
    const email = address.email.toLowerCase();
    if (email === '') return;
    const actual = isOurs(email, mailboxAddress) ? 'internal' : role;
    const present = byEmail.get(email);
    if (present === undefined) {
      if (byEmail.size < MAX_PARTICIPANTS)
        byEmail.set(email, { email, name: address.name, role: actual });
      return;
    }
    const name = present.name === '' ? address.name : present.name;
    // Senders and direct recipients rank before recipients in copy.
    const stronger = present.role === 'cc' ? actual : present.role;
    if (name !== present.name || stronger !== present.role) {
      byEmail.set(email, { email, name, role: stronger });
    }
  };
  if (message.from !== null) note(message.from, isInbound ? 'customer' : 'internal');
  for (const address of message.to) note(address, isInbound ? 'cc' : 'customer');
  for (const address of message.cc) note(address, 'cc');
  return [...byEmail.values()];
}

/** The mailbox itself or its plus-address (RFC 5233 subaddress). */
function isOurs(email: string, mailboxAddress: string): boolean {
  if (email === mailboxAddress) return true;
  const plus = email.indexOf('+');
  const at = email.lastIndexOf('@');
  return plus > 0 && plus < at && email.slice(0, plus) + email.slice(at) === mailboxAddress;
}
