import type { MailReceived } from '@dak/contracts/events';
import { NotFoundError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ActivityEntry } from '../activity-store';
import {
  aggregate,
  appendMessage,
  byPosition,
  isNext,
  isReleased,
  type MessageFacts,
} from '../conversation-aggregates';
import { initialStatus, statusAfterMessage, type StatusMessage } from '../conversation-status';
import {
  lockConversations,
  selectMessageFacts,
  type LockedConversation,
} from '../conversation-store';
import { mailEvent } from '../mail-events';
import {
  saveConversations,
  type ConversationChange,
  type MessageEvent,
} from '../save-conversations';
import {
  hex,
  insertAttachments,
  insertMessages,
  selectAddresses,
  selectByDedupeKey,
} from './message-store';
import { newConversation } from './new-conversation';
import type { NewMessage } from './new-message';
import { reportEvents } from './report-events';

export interface RecordedMessage {
  /** Id of the stored message; with `isDuplicate`, of the existing one. */
  id: string;
  conversationId: string;
  mailboxId: string;
  isDuplicate: boolean;
  /** New mail of a person in a conversation where mail waits for its time to be sent. */
  isAnswer: boolean;
}

/**
 * Stores messages, makes their new conversations, and brings conversations, statuses, activity and
 * events up to date, in about eight statements for any number of entries of one organization. Several
 * entries may name the same new conversation; it is made when at least one of them is new mail.
 * Statements that need no answer of each other share a round trip.
 * @returns one result per entry, in order
 * @throws NotFoundError when an existing conversation or a mailbox is not there
 */
export async function recordMessages(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly NewMessage[],
  now: number = Date.now(),
): Promise<RecordedMessage[]> {
  return recordPlaced(tx, organizationId, await placeMessages(tx, organizationId, entries), now);
}

/** Messages with the conversations they go to, and the row locks of those that exist. */
export interface PlacedMessages {
  /** As given; `conversation` is where a merged one went. */
  readonly messages: readonly NewMessage[];
  readonly locked: ReadonlyMap<string, LockedConversation>;
}

/** The first half of {@link recordMessages}. */
export async function placeMessages(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly NewMessage[],
): Promise<PlacedMessages> {
  const locked = await lockExisting(tx, organizationId, entries);
  return { messages: entries.map((entry) => redirected(entry, locked)), locked };
}

/** The second half of {@link recordMessages}; asks for the insert of the messages at once. */
export async function recordPlaced(
  tx: SqlExecutor,
  organizationId: string,
  { messages, locked }: PlacedMessages,
  now: number,
): Promise<RecordedMessage[]> {
  if (messages.length === 0) return [];
  const at = new Date(now).toISOString();
  const inserted = insertMessages(tx, organizationId, messages, at);
  const store = async (stored: readonly NewMessage[]): Promise<ReadonlySet<string>> => {
    if (stored.length === 0) return new Set();
    const [, waiting] = await Promise.all([
      insertAttachments(tx, organizationId, stored),
      updateConversationsOf(tx, organizationId, stored, locked, now),
    ]);
    return new Set(
      stored
        .filter((entry) => isAnswer(entry) && waiting.has(entry.conversation.id))
        .map(({ id }) => id),
    );
  };
  // Only a dedupe_key can keep a message out.
  if (messages.every(({ dedupeKey }) => dedupeKey === null)) {
    const [storedIds, answers] = await Promise.all([inserted, store(messages)]);
    return results(tx, organizationId, messages, storedIds, answers);
  }
  const storedIds = await inserted;
  const answers = await store(messages.filter(({ id }) => storedIds.has(id)));
  return results(tx, organizationId, messages, storedIds, answers);
}

/** The conversations that entries name, by the id they name; a merged one leads to where it went. */
async function lockExisting(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly NewMessage[],
): Promise<Map<string, LockedConversation>> {
  const made = new Set(
    entries.flatMap(({ conversation }) => (conversation.kind === 'new' ? [conversation.id] : [])),
  );
  const named = new Set(
    entries.map(({ conversation }) => conversation.id).filter((id) => !made.has(id)),
  );
  const rows = new Map<string, LockedConversation>();
  let wanted = [...named];
  while (wanted.length > 0) {
    for (const row of await lockConversations(tx, organizationId, wanted)) rows.set(row.id, row);
    if (wanted.some((id) => !rows.has(id))) throw new NotFoundError('conversation');
    wanted = [...rows.values()].flatMap(({ merged_into_id: id }) =>
      id !== null && !rows.has(id) ? [id] : [],
    );
  }
  const targets = new Map<string, LockedConversation>();
  for (const id of named) {
    let row = rows.get(id)!;
    while (row.merged_into_id !== null) row = rows.get(row.merged_into_id)!;
    targets.set(id, row);
  }
  return targets;
}

function redirected(
  entry: NewMessage,
  locked: ReadonlyMap<string, LockedConversation>,
): NewMessage {
  const target = locked.get(entry.conversation.id);
  if (target === undefined || target.id === entry.conversation.id) return entry;
  return { ...entry, conversation: { kind: 'existing', id: target.id } };
}

/** @returns the conversations where mail waits for its time to be sent */
async function updateConversationsOf(
  tx: SqlExecutor,
  organizationId: string,
  stored: readonly NewMessage[],
  locked: ReadonlyMap<string, LockedConversation>,
  now: number,
): Promise<ReadonlySet<string>> {
  const groups = Map.groupBy(stored, (message) => message.conversation.id);
  const before = new Map([...locked.values()].map((row) => [row.id, row]));
  const addresses = await addressesOf(tx, organizationId, stored, [...before.values()]);

  const changes: ConversationChange[] = [];
  const disordered: LockedConversation[] = [];
  for (const [id, messages] of groups) {
    const known = before.get(id);
    const address = addresses.get(messages[0]!.mailboxId);
    if (address === undefined) throw new NotFoundError('mailbox');
    const change = withMessages(known ?? null, messages, address, now);
    if (known !== undefined && !arrivesInOrder(known, messages)) disordered.push(known);
    changes.push(change);
  }
  await recompute(tx, organizationId, disordered, changes);
  await saveConversations(tx, organizationId, changes, now);
  return new Set(
    changes.filter(({ after }) => after.scheduled_count > 0).map(({ after }) => after.id),
  );
}

/** Mail of a person from outside that came just now; the same kinds as in `findAnswered`. */
function isAnswer({ direction, kind, imported }: NewMessage): boolean {
  return direction === 'inbound' && !imported && ['human', 'list'].includes(kind ?? 'human');
}

/** Mail that belongs between older mail is rare (imports, late delivery): those conversations are recomputed. */
async function recompute(
  tx: SqlExecutor,
  organizationId: string,
  conversations: readonly LockedConversation[],
  changes: readonly ConversationChange[],
): Promise<void> {
  if (conversations.length === 0) return;
  const ids = conversations.map((conversation) => conversation.id);
  const facts = Map.groupBy(
    await selectMessageFacts(tx, organizationId, ids),
    (message) => message.conversation_id,
  );
  const addresses = new Map(conversations.map((row) => [row.id, row.mailbox_address]));
  for (const change of changes) {
    const address = addresses.get(change.after.id);
    if (address === undefined) continue;
    Object.assign(
      change.after,
      aggregate(facts.get(change.after.id) ?? [], change.after.created_at, address),
    );
  }
}

function withMessages(
  known: LockedConversation | null,
  messages: readonly NewMessage[],
  mailboxAddress: string,
  now: number,
): ConversationChange {
  const ordered = messages
    .map((message) => ({ message, facts: factsOf(message) }))
    .sort((a, b) => byPosition(a.facts, b.facts));
  const first = ordered[0]!;
  let after =
    known === null ? newConversation(messages, first.message, now) : withoutAddress(known);
  const activity: ActivityEntry[] = [];
  const messageEvents: MessageEvent[] = [];
  for (const { message, facts } of ordered) {
    const statusBefore = after.status;
    if (known === null && message === first.message) {
      after = { ...after, status: startingStatus(message) };
    } else if (!message.imported) {
      after = statusAfterMessage(after, statusMessage(message));
    }
    if (statusBefore !== after.status && known !== null) {
      activity.push({
        type: 'status_changed',
        before: statusBefore,
        after: after.status,
        reason: message.direction === 'inbound' ? 'message_received' : 'message_sent',
      });
    }
    after = { ...after, ...appendMessage(after, facts, mailboxAddress) };
    if (message.direction === 'inbound') {
      const { status } = after;
      messageEvents.push({
        messageId: message.id,
        actor: message.author,
        traceparent: message.traceparent,
        build: (event) =>
          mailEvent(
            'mail.received',
            event,
            received(message, known === null && message === first.message, status),
          ),
      });
      for (const build of reportEvents(message)) {
        const { id: messageId, author: actor, traceparent } = message;
        messageEvents.push({ messageId, actor, traceparent, build });
      }
    }
  }
  return {
    before: known === null ? null : withoutAddress(known),
    after,
    reason: reasonOf(known, messages, first.message),
    actor: first.message.author,
    traceparent: first.message.traceparent,
    activity,
    messageEvents,
  };
}

function startingStatus(message: NewMessage) {
  const asked = message.conversation.kind === 'new' ? message.conversation.status : undefined;
  return asked ?? initialStatus(statusMessage(message), message.status === 'awaiting_approval');
}

function arrivesInOrder(known: LockedConversation, messages: readonly NewMessage[]): boolean {
  return messages.every((message) => {
    const facts = factsOf(message);
    return message.direction === 'internal_note' || !isReleased(message) || isNext(known, facts);
  });
}

function withoutAddress(row: LockedConversation) {
  const { mailbox_address, ...conversation } = row;
  return conversation;
}

/** `imported` where an archive alone changes the conversation: no webhook is notified. */
function reasonOf(
  known: LockedConversation | null,
  messages: readonly NewMessage[],
  first: NewMessage,
): string {
  if (messages.every(({ imported }) => imported)) return 'imported';
  if (known === null) return 'created';
  switch (first.direction) {
    case 'inbound':
      return 'message_received';
    case 'outbound':
      return 'message_sent';
    case 'internal_note':
      return 'note_added';
  }
}

function isAutomatic(message: NewMessage): boolean {
  return (
    message.flags.auto_generated === true ||
    message.kind === 'auto_reply' ||
    message.kind === 'dsn' ||
    message.kind === 'arf' ||
    message.kind === 'mdn'
  );
}

function statusMessage(message: NewMessage): StatusMessage {
  return {
    direction: message.direction,
    isAutomatic: isAutomatic(message),
    isReleased: isReleased(message),
  };
}

function factsOf(message: NewMessage): MessageFacts {
  return {
    id: message.id,
    sort_at: message.sortAt,
    direction: message.direction,
    status: message.status,
    is_automatic: isAutomatic(message),
    is_bounce: message.flags.bounce === true,
    has_injection_signals: JSON.stringify(message.safety?.signals ?? []).includes('injection'),
    from: message.from,
    to: message.to,
    cc: message.cc,
    preview: message.preview,
    unread: message.unread,
    attachment_count: message.attachments.length,
    size_bytes: message.sizeBytes,
  };
}

function received(message: NewMessage, isFirst: boolean, conversationStatus: string): MailReceived {
  return {
    subject: message.subject,
    from: message.from ?? undefined,
    to: [...message.to],
    cc: [...message.cc],
    messageIdHeader: message.messageIdHeader ?? undefined,
    kind: message.kind ?? 'human',
    attachmentCount: message.attachments.length,
    sizeBytes: message.sizeBytes,
    receivedAt: message.receivedAt === null ? undefined : new Date(message.receivedAt),
    newConversation: isFirst,
    imported: message.imported,
    preview: message.preview,
    conversationStatus,
  };
}

/** Addresses of the mailboxes of new conversations; locked ones and some messages have brought theirs along. */
async function addressesOf(
  tx: SqlExecutor,
  organizationId: string,
  messages: readonly NewMessage[],
  locked: readonly LockedConversation[],
): Promise<Map<string, string>> {
  const addresses = new Map(locked.map((row) => [row.mailbox_id, row.mailbox_address]));
  for (const { mailboxId, mailboxAddress } of messages) {
    if (mailboxAddress !== undefined) addresses.set(mailboxId, mailboxAddress);
  }
  const missing = [...new Set(messages.map((message) => message.mailboxId))].filter(
    (id) => !addresses.has(id),
  );
  if (missing.length > 0) {
    for (const row of await selectAddresses(tx, organizationId, missing)) {
      addresses.set(row.id, row.address);
    }
  }
  return addresses;
}

async function results(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly NewMessage[],
  storedIds: ReadonlySet<string>,
  answers: ReadonlySet<string>,
): Promise<RecordedMessage[]> {
  const keys = entries.flatMap((entry) =>
    storedIds.has(entry.id) || entry.dedupeKey === null
      ? []
      : [{ mailboxId: entry.mailboxId, dedupeKey: hex(entry.dedupeKey) }],
  );
  const present = new Map(
    (keys.length === 0 ? [] : await selectByDedupeKey(tx, organizationId, keys)).map((row) => [
      `${row.mailbox_id}:${row.dedupe_key}`,
      row,
    ]),
  );
  return entries.map((entry) => {
    const twin =
      storedIds.has(entry.id) || entry.dedupeKey === null
        ? undefined
        : present.get(`${entry.mailboxId}:${hex(entry.dedupeKey)}`);
    return {
      id: twin?.id ?? entry.id,
      conversationId: twin?.conversation_id ?? entry.conversation.id,
      mailboxId: entry.mailboxId,
      isDuplicate: twin !== undefined,
      isAnswer: answers.has(entry.id),
    };
  });
}
