import {
  belongsToBacklog,
  isResolved,
  isUnresolved,
  unknownConversation,
  type ConversationState,
} from './conversation-state';
import type { ChangeFacts, JournalEntry, ReceivedFacts } from './journal-entry';

/** The counters. */
export type Measure =
  | 'received'
  | 'received_automatic'
  | 'imported'
  | 'sent'
  | 'sent_automatic'
  | 'deferred'
  | 'failed'
  | 'suppressed'
  | 'bounced_hard'
  | 'bounced_soft'
  | 'complained'
  | 'opened'
  | 'reopened'
  | 'resolved'
  | 'first_response'
  | 'backlog'
  | 'agent_action'
  | 'rule_matched';

/** One countable thing, with the department and the assignee of its time. */
export interface Fact {
  readonly measure: Measure;
  readonly at: string;
  /** 1; for `backlog` the change of it. */
  readonly amount: 1 | -1;
  readonly milliseconds: number | null;
  readonly detail: string | null;
  readonly departmentId: string | null;
  readonly assigneeType: string | null;
  readonly assigneeId: string | null;
}

export interface Projection {
  readonly state: ConversationState | null;
  readonly facts: readonly Fact[];
}

type Draft = Pick<Fact, 'measure'> & Partial<Pick<Fact, 'at' | 'milliseconds' | 'detail'>>;

/** Feedback that calls nothing unwanted (RFC 5965 §7.3 and the registry of feedback types). */
const NO_COMPLAINT: ReadonlySet<string> = new Set(['not-spam', 'auth-failure', 'dmarc']);
/** Kinds of mail that a person has written. */
const BY_PEOPLE: ReadonlySet<string> = new Set(['human', 'list']);

/**
 * The effect of one event on its conversation and on the figures. Pure: the model is this function over
 * the journal, in order per conversation. `state` is null before the first event of a conversation and
 * for events of none.
 */
export function projectEntry(state: ConversationState | null, entry: JournalEntry): Projection {
  const { content } = entry;
  const known = state ?? placeless(entry);
  if (known === null) return { state: null, facts: drafts(entry).map(finish(entry, null)) };
  switch (content.kind) {
    case 'mail.received':
      return received(state, known, entry, content.facts);
    case 'mail.sent':
      return sent(known, entry, content.facts.automatic);
    case 'conversation.updated':
      return changed(state, known, entry, content.facts);
    default:
      return { state: known, facts: drafts(entry).map(finish(entry, known)) };
  }
}

function placeless(entry: JournalEntry): ConversationState | null {
  const { conversationId, mailboxId } = entry;
  if (conversationId === null || mailboxId === null) return null;
  return unknownConversation(entry, conversationId, mailboxId);
}

/** Counts of an event that do not depend on the conversation's state. */
function drafts({ content }: JournalEntry): Draft[] {
  switch (content.kind) {
    case 'mail.sent': {
      const { automatic, attempts } = content.facts;
      return [{ measure: automatic ? 'sent_automatic' : 'sent' }, ...deferred(attempts)];
    }
    case 'mail.failed': {
      const { reason, attempts } = content.facts;
      const measure = reason === 'suppressed' ? 'suppressed' : 'failed';
      return [{ measure, detail: reason }, ...deferred(attempts)];
    }
    case 'bounce.received': {
      const { action, hard, reason } = content.facts;
      if (action !== 'failed') return [];
      return [{ measure: hard ? 'bounced_hard' : 'bounced_soft', detail: reason }];
    }
    case 'complaint.received': {
      const { type } = content.facts;
      return NO_COMPLAINT.has(type) ? [] : [{ measure: 'complained', detail: type }];
    }
    case 'agent.action':
      return [{ measure: 'agent_action', detail: content.facts.outcome }];
    case 'rule.matched':
      return [{ measure: 'rule_matched', detail: content.facts.rule_kind }];
    case 'mail.received':
    case 'conversation.updated':
      return [];
  }
}

function deferred(attempts: number): Draft[] {
  return attempts > 1 ? [{ measure: 'deferred' }] : [];
}

function received(
  state: ConversationState | null,
  known: ConversationState,
  entry: JournalEntry,
  facts: ReceivedFacts,
): Projection {
  const { imported, kind } = facts;
  const at = imported ? entry.occurredAt : facts.received_at;
  const isPersons = BY_PEOPLE.has(kind);
  const found: Draft[] = [];
  let next = known;
  if (state === null) {
    // A conversation that an archive brings is no opening, whatever is done with it later.
    const isOpening = facts.new && !imported;
    if (isOpening) found.push({ measure: 'opened', at });
    next = {
      ...known,
      status: facts.status || 'unknown',
      unresolvedSince: isOpening && isUnresolved(facts.status) ? at : null,
      isAnswered: !isOpening,
    };
  }
  if (!imported && isPersons && !next.isAnswered && next.awaitingSince === null) {
    next = { ...next, awaitingSince: at };
  }
  found.push({
    measure: imported ? 'imported' : isPersons ? 'received' : 'received_automatic',
    at,
    detail: facts.authentication,
  });
  return settle(state, next, entry, found, at);
}

function sent(known: ConversationState, entry: JournalEntry, automatic: boolean): Projection {
  const found = drafts(entry);
  const { awaitingSince } = known;
  if (automatic || awaitingSince === null) {
    return { state: known, facts: found.map(finish(entry, known)) };
  }
  found.push({
    measure: 'first_response',
    milliseconds: between(awaitingSince, entry.occurredAt),
  });
  const next = { ...known, awaitingSince: null, isAnswered: true };
  return { state: next, facts: found.map(finish(entry, next)) };
}

function changed(
  state: ConversationState | null,
  known: ConversationState,
  entry: JournalEntry,
  facts: ChangeFacts,
): Projection {
  const at = entry.occurredAt;
  const found: Draft[] = [];
  let next: ConversationState = {
    ...known,
    departmentId: facts.department_id === undefined ? known.departmentId : facts.department_id,
    ...(facts.assignee === undefined
      ? {}
      : { assigneeType: facts.assignee?.type ?? null, assigneeId: facts.assignee?.id ?? null }),
    status: facts.status ?? known.status,
    disposition: facts.disposition ?? known.disposition,
    mergedIntoId: facts.merged_into_id === undefined ? known.mergedIntoId : facts.merged_into_id,
  };
  if (state === null && facts.created === true) {
    found.push({ measure: 'opened' });
    next = { ...next, isAnswered: false, unresolvedSince: isUnresolved(next.status) ? at : null };
  } else if (isResolved(next.status) && isUnresolved(known.status)) {
    const { unresolvedSince } = known;
    found.push({
      measure: 'resolved',
      milliseconds: unresolvedSince === null ? null : between(unresolvedSince, at),
    });
    next = { ...next, unresolvedSince: null };
  } else if (isUnresolved(next.status) && isResolved(known.status)) {
    found.push({ measure: 'reopened' });
    next = { ...next, unresolvedSince: at };
  }
  return settle(state, withMovedMail(next, facts), entry, found, at);
}

/**
 * Merging and splitting move mail between conversations: the unanswered mail is now what the
 * change says. Where nothing does any more, the answer was counted in the other conversation.
 */
function withMovedMail(state: ConversationState, facts: ChangeFacts): ConversationState {
  const isSplitOff = facts.reason === 'split' && facts.created === true;
  if (state.isAnswered || (facts.waiting_since === undefined && !isSplitOff)) return state;
  const awaitingSince = facts.waiting_since ?? null;
  const isAnswered = awaitingSince === null && (isSplitOff || state.awaitingSince !== null);
  return { ...state, awaitingSince, isAnswered };
}

/** Adds the change's effect on the backlog, under the old and the new department and assignee. */
function settle(
  before: ConversationState | null,
  next: ConversationState,
  entry: JournalEntry,
  found: readonly Draft[],
  at: string,
): Projection {
  const state = { ...next, inBacklog: belongsToBacklog(next) };
  const facts = found.map(finish(entry, state));
  const was = before?.inBacklog === true;
  const isMoved =
    before?.departmentId !== state.departmentId ||
    before.assigneeType !== state.assigneeType ||
    before.assigneeId !== state.assigneeId;
  if (was && (!state.inBacklog || isMoved)) {
    facts.push({ ...finish(entry, before)({ measure: 'backlog', at }), amount: -1 });
  }
  if (state.inBacklog && (!was || isMoved)) {
    facts.push(finish(entry, state)({ measure: 'backlog', at }));
  }
  return { state, facts };
}

function finish(entry: JournalEntry, place: ConversationState | null): (draft: Draft) => Fact {
  return ({ measure, at = entry.occurredAt, milliseconds = null, detail = null }) => ({
    measure,
    at,
    amount: 1,
    milliseconds,
    detail,
    departmentId: place === null ? entry.departmentId : place.departmentId,
    assigneeType: place?.assigneeType ?? null,
    assigneeId: place?.assigneeId ?? null,
  });
}

/** Clocks of different processes may disagree a little: no time is negative. */
function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
