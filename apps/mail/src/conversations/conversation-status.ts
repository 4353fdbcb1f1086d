import type { ConversationStatus } from './conversation-row';

/** Days after which a resolved conversation is closed: later mail begins a new, linked one. */
export const REOPEN_WINDOW_DAYS = 14;
const DAY = 86_400_000;

/** Input and output of the status machine; times are RFC 3339 UTC. */
export interface StatusState {
  status: ConversationStatus;
  status_before_snooze: ConversationStatus | null;
  snoozed_until: string | null;
  snooze_wake_on_reply: boolean;
  resolved_at: string | null;
  assignee_type: 'user' | 'agent' | null;
}

/** The facts of a message that decide about the status. */
export interface StatusMessage {
  direction: 'inbound' | 'outbound' | 'internal_note';
  /** Reports, automatic replies, anything with Auto-Submitted: never changes a status. */
  isAutomatic: boolean;
  /** Outbound: accepted by the queue, so no draft, nothing scheduled, awaiting approval or canceled. */
  isReleased: boolean;
}

/** A person's mail needs an answer; after our reply, the other side is next. */
export function statusAfterMessage<S extends StatusState>(state: S, message: StatusMessage): S {
  if (message.direction === 'internal_note' || message.isAutomatic) return state;
  if (message.direction === 'inbound') return afterInbound(state);
  return message.isReleased ? afterReply(state) : state;
}

function afterInbound<S extends StatusState>(state: S): S {
  switch (state.status) {
    case 'open':
    case 'pending':
    case 'closed':
      return state;
    case 'waiting':
    case 'resolved':
      return { ...state, status: needsAction(state), resolved_at: null };
    case 'snoozed':
      // Without wake_on_reply the snooze lasts, and waking finds the inbound mail.
      return state.snooze_wake_on_reply
        ? awake(state, needsAction(state))
        : { ...state, status_before_snooze: needsAction(state) };
  }
}

function afterReply<S extends StatusState>(state: S): S {
  switch (state.status) {
    case 'open':
    case 'pending':
      return { ...state, status: 'waiting' };
    case 'snoozed':
      return { ...state, status_before_snooze: 'waiting' };
    case 'waiting':
    case 'resolved':
    case 'closed':
      return state;
  }
}

/** A reply was canceled before it left: what waited for an answer waits again. */
export function statusAfterWithdrawal<S extends StatusState>(state: S, isUnanswered: boolean): S {
  if (!isUnanswered) return state;
  if (state.status === 'waiting') return { ...state, status: needsAction(state) };
  if (state.status === 'snoozed') return { ...state, status_before_snooze: needsAction(state) };
  return state;
}

/** The status of a conversation that a first message opens. */
export function initialStatus(
  message: StatusMessage,
  isAwaitingApproval: boolean,
): ConversationStatus {
  if (message.direction === 'outbound') return isAwaitingApproval ? 'pending' : 'waiting';
  return 'open';
}

/** Statuses that a caller may set by hand; snoozing has its own operation, closing comes with time. */
export function canSetStatus(from: ConversationStatus, to: ConversationStatus): boolean {
  if (from === to) return true;
  if (to === 'snoozed' || to === 'closed' || from === 'closed') return false;
  return true;
}

export function withStatus<S extends StatusState>(
  state: S,
  status: ConversationStatus,
  now: string,
): S {
  if (state.status === status) return state;
  const next = { ...state, status, resolved_at: status === 'resolved' ? now : null };
  return state.status === 'snoozed' ? awake(next, status) : next;
}

export function canSnooze(from: ConversationStatus): boolean {
  return from === 'open' || from === 'pending' || from === 'waiting' || from === 'snoozed';
}

/** Also moves an existing snooze. `until` null: until a reply arrives. */
export function snoozed<S extends StatusState>(
  state: S,
  until: string | null,
  wakeOnReply: boolean,
): S {
  return {
    ...state,
    status: 'snoozed',
    status_before_snooze: state.status === 'snoozed' ? state.status_before_snooze : state.status,
    snoozed_until: until,
    snooze_wake_on_reply: wakeOnReply,
  };
}

/** Back to the status before; inbound mail that arrived meanwhile has already made that `open`. */
export function woken<S extends StatusState>(state: S): S {
  return state.status === 'snoozed' ? awake(state, state.status_before_snooze ?? 'open') : state;
}

/** False where later mail has to begin a new, linked conversation. */
export function acceptsReplies(
  state: Pick<StatusState, 'status' | 'resolved_at'>,
  now: number,
): boolean {
  if (state.status === 'closed') return false;
  return (
    state.resolved_at === null || now - Date.parse(state.resolved_at) <= REOPEN_WINDOW_DAYS * DAY
  );
}

function needsAction(state: StatusState): ConversationStatus {
  return state.assignee_type === 'agent' ? 'pending' : 'open';
}

function awake<S extends StatusState>(state: S, status: ConversationStatus): S {
  return {
    ...state,
    status,
    status_before_snooze: null,
    snoozed_until: null,
    snooze_wake_on_reply: true,
  };
}
