import type { JournalEntry } from './journal-entry';

/** A conversation as its events so far have left it. Times are RFC 3339 UTC. */
export interface ConversationState {
  readonly conversationId: string;
  readonly mailboxId: string;
  readonly departmentId: string | null;
  readonly assigneeType: string | null;
  readonly assigneeId: string | null;
  /** `unknown` until an event says, if the history starts midway. */
  readonly status: string;
  readonly disposition: string;
  readonly mergedIntoId: string | null;
  readonly inBacklog: boolean;
  /** Since when it is unresolved; null when it is not, or when its beginning is not known. */
  readonly unresolvedSince: string | null;
  /** A person's first message that has not been answered yet. */
  readonly awaitingSince: string | null;
  readonly isAnswered: boolean;
}

const UNRESOLVED: ReadonlySet<string> = new Set(['open', 'pending', 'waiting', 'snoozed']);
const RESOLVED: ReadonlySet<string> = new Set(['resolved', 'closed']);

export function isUnresolved(status: string): boolean {
  return UNRESOLVED.has(status);
}

export function isResolved(status: string): boolean {
  return RESOLVED.has(status);
}

/** Somebody has work with it: not resolved, not spam or trash, not merged into another one. */
export function belongsToBacklog(
  state: Pick<ConversationState, 'status' | 'disposition' | 'mergedIntoId'>,
): boolean {
  return (
    isUnresolved(state.status) && state.disposition === 'normal' && state.mergedIntoId === null
  );
}

/**
 * A conversation whose beginning was not seen: it has no opening, and no first response or resolution
 * of it is measured before it is known that one is due.
 */
export function unknownConversation(
  entry: JournalEntry,
  conversationId: string,
  mailboxId: string,
): ConversationState {
  return {
    conversationId,
    mailboxId,
    departmentId: entry.departmentId,
    assigneeType: null,
    assigneeId: null,
    status: 'unknown',
    disposition: 'normal',
    mergedIntoId: null,
    inBacklog: false,
    unresolvedSince: null,
    awaitingSince: null,
    isAnswered: true,
  };
}
