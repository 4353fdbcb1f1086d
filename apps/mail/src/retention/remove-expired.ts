import { SYSTEM } from '@dak/kernel';
import type { Database, Transaction } from '@dak/platform/postgres';
import { lockConversations } from '../conversations/conversation-store';
import { reviseConversations } from '../conversations/revise-conversations';
import { saveConversations, type ConversationChange } from '../conversations/save-conversations';
import { LEGAL_HOLD } from '../conversations/legal-hold';
import {
  blankMerged,
  deleteConversations,
  deleteMailbox,
  deleteMessages,
  deleteOldRecords,
  selectConversationsOfMailbox,
  selectEmpty,
  selectExpired,
  selectLapsedMailboxes,
  selectLeftOver,
  selectMessagesOfMailbox,
  type ArrivalPlace,
  type ExpiredMessage,
} from './expired-store';

/** Messages of one transaction: some tens of milliseconds of locks. */
const BATCH = 200;
const RECORDS = 1_000;
/** Pause between two transactions, as a fraction of the former's duration, to leave room for other work. */
const REST = 1;
/** Where little of much is old, finding that out takes long. */
const STATEMENT_TIMEOUT_MS = 600_000;
const RESTORE_DAYS = 30;
const DAY_MS = 86_400_000;

export interface Removed {
  messages: number;
  conversations: number;
  mailboxes: number;
}

export interface RemovalRequest {
  organizationId: string;
  /** Mail that arrived before goes; null = the organization keeps its mail. */
  before: number | null;
  /** Milliseconds for which a call works; the next one goes on. */
  budgetMs: number;
  /** Rests between two transactions, so that requests of people come first. */
  isGentle: boolean;
  now: number;
}

/**
 * Removes mail whose time is over, conversations that are empty then, records beside them, and
 * mailboxes past restoring. Every batch is its own transaction: a crash or another
 * process that does the same at the same time changes nothing but who does the rest.
 */
export async function removeExpired(
  database: Database,
  { organizationId, before, budgetMs, isGentle, now }: RemovalRequest,
): Promise<Removed & { more: boolean }> {
  const removed: Removed = { messages: 0, conversations: 0, mailboxes: 0 };
  const deadline = performance.now() + budgetMs;
  const inTurn = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await database.inTenant(organizationId, work, {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    const took = performance.now() - started;
    if (isGentle) await rest(took * REST);
    return result;
  };
  const isOver = () => performance.now() > deadline;
  const tally = (batch: { messages: number; conversations: number }) => {
    removed.messages += batch.messages;
    removed.conversations += batch.conversations;
  };

  if (before !== null) {
    const cutoff = new Date(before).toISOString();
    let after: ArrivalPlace | null = null;
    for (;;) {
      if (isOver()) return { ...removed, more: true };
      const place = after;
      const batch: Batch = await inTurn(async (tx) => {
        const found = await selectExpired(tx, organizationId, cutoff, place, BATCH);
        return { found, ...(await removeBatch(tx, organizationId, found, cutoff, now)) };
      });
      tally(batch);
      if (batch.found.length < BATCH) break;
      after = batch.found.at(-1)!;
    }
    for (;;) {
      if (isOver()) return { ...removed, more: true };
      const more = await inTurn((tx) => deleteOldRecords(tx, organizationId, cutoff, RECORDS));
      if (!more) break;
    }
    for (;;) {
      if (isOver()) return { ...removed, more: true };
      const left = await inTurn(async (tx) => {
        const ids = await selectLeftOver(tx, organizationId, cutoff, BATCH);
        return removeEmpty(tx, organizationId, ids, cutoff, now);
      });
      removed.conversations += left;
      if (left < BATCH) break;
    }
  }

  const lapsed = new Date(now - RESTORE_DAYS * DAY_MS).toISOString();
  const mailboxes = await inTurn((tx) => selectLapsedMailboxes(tx, organizationId, lapsed));
  for (const mailboxId of mailboxes) {
    for (;;) {
      if (isOver()) return { ...removed, more: true };
      const batch = await inTurn((tx) => emptyMailbox(tx, organizationId, mailboxId, now));
      tally(batch);
      if (batch.isEmpty) removed.mailboxes += 1;
      // A hold that was set meanwhile keeps the rest.
      if (batch.isEmpty || batch.messages + batch.conversations === 0) break;
    }
  }
  return { ...removed, more: false };
}

interface Batch {
  found: ExpiredMessage[];
  messages: number;
  conversations: number;
}

/** Asks again under the locks of the conversations: a hold that is set meanwhile counts. */
async function removeBatch(
  tx: Transaction,
  organizationId: string,
  found: readonly ExpiredMessage[],
  since: string,
  now: number,
): Promise<Omit<Batch, 'found'>> {
  if (found.length === 0) return { messages: 0, conversations: 0 };
  const wanted = [...new Set(found.map(({ conversation_id }) => conversation_id))];
  const locked = await lockConversations(tx, organizationId, wanted);
  const open = locked.filter(({ labels }) => !labels.includes(LEGAL_HOLD)).map(({ id }) => id);
  const ids = found.filter((one) => open.includes(one.conversation_id)).map(({ id }) => id);
  const messages = await deleteMessages(tx, organizationId, ids, since);
  const empty = await selectEmpty(tx, organizationId, open);
  const conversations = await removeEmpty(tx, organizationId, empty, since, now);
  const shorter = open.filter((id) => !empty.includes(id));
  await blankMerged(tx, organizationId, shorter);
  await reviseConversations(
    tx,
    organizationId,
    shorter.map((conversationId) => ({ conversationId, event: 'changed', actor: SYSTEM })),
    now,
  );
  return { messages, conversations };
}

/** Those still empty under their locks. They are closed first, so that they are not counted as open. */
async function removeEmpty(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
  since: string,
  now: number,
): Promise<number> {
  const found = await lockConversations(tx, organizationId, ids);
  const empty = await selectEmpty(tx, organizationId, ids);
  const locked = found.filter(
    ({ id, labels }) => empty.includes(id) && !labels.includes(LEGAL_HOLD),
  );
  const changes = locked
    .filter(({ status }) => status !== 'closed')
    .map(({ mailbox_address: _, ...row }): ConversationChange => ({
      before: row,
      after: { ...row, status: 'closed', snoozed_until: null },
      reason: 'retention',
      actor: SYSTEM,
      activity: [],
    }));
  if (changes.length > 0) await saveConversations(tx, organizationId, changes, now);
  return deleteConversations(
    tx,
    organizationId,
    locked.map(({ id }) => id),
    since,
  );
}

async function emptyMailbox(
  tx: Transaction,
  organizationId: string,
  mailboxId: string,
  now: number,
): Promise<{ messages: number; conversations: number; isEmpty: boolean }> {
  const since = new Date(0).toISOString();
  const found = await selectMessagesOfMailbox(tx, organizationId, mailboxId, BATCH);
  if (found.length > 0) {
    return { ...(await removeBatch(tx, organizationId, found, since, now)), isEmpty: false };
  }
  const ids = await selectConversationsOfMailbox(tx, organizationId, mailboxId, BATCH);
  if (ids.length > 0) {
    const conversations = await deleteConversations(tx, organizationId, ids, since);
    return { messages: 0, conversations, isEmpty: false };
  }
  await deleteMailbox(tx, organizationId, mailboxId);
  return { messages: 0, conversations: 0, isEmpty: true };
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
