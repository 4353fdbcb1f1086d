import { SYSTEM, uuidv7 } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { mergeConversations } from '../merge-conversations';
import { attachNew, reattachStored, type Attachment, type Reattachment } from './attach-orphans';
import { detachOrphans } from './detach-orphans';
import { selectCandidates } from './thread-candidates';
import { nearestConversation, planThreads, type Surroundings } from './thread-plan';
import {
  insertEvidence,
  selectContinuation,
  selectConversationStates,
  selectOwners,
  selectRefs,
  updateParents,
  upsertRefs,
  werePartedByPeople,
  type ConversationState,
  type ThreadMemory,
} from './thread-store';
import { isOrphan, mentionedIds, mentionsOf, sharedKeys, type ThreadMessage } from './threading';

/** A message about to be stored. */
export interface IncomingMessage {
  thread: ThreadMessage;
  /** As stored in `message.base_subject`. */
  baseSubject: string;
  /** Imported mail joins a closed conversation instead of opening one that continues it. */
  imported: boolean;
}

/** Where a message goes. */
export type Placement =
  | { kind: 'existing'; id: string }
  | { kind: 'new'; id: string; number: number; linkedConversationId: string | null };

export interface Threading {
  /** By id of the message. */
  placements: ReadonlyMap<string, Placement>;
  /** For `rememberThreads`, once the messages are stored. */
  memory: ThreadMemory;
}

export interface ThreadedMailbox {
  tx: SqlExecutor;
  organizationId: string;
  mailboxId: string;
  mailboxAddress: string;
  /** A number for a new conversation, of `allocateConversationNumbers`. */
  takeNumber: () => number;
}

/**
 * Finds the conversations of new messages of one mailbox, merging and parting stored conversations
 * where the new messages show that they belong together or do not. The caller holds the threading
 * lock of the mailbox.
 */
export async function threadMessages(
  mailbox: ThreadedMailbox,
  incoming: readonly IncomingMessage[],
): Promise<Threading> {
  const { tx, organizationId, mailboxId } = mailbox;
  const messages = incoming.map(({ thread }) => thread);
  const candidates = await selectCandidates(mailbox, incoming);
  const attachments = attachNew(messages, candidates);
  const reattachments = reattachStored(messages, candidates);
  const moved = await detachOrphans(
    tx,
    organizationId,
    mailboxId,
    reattachments,
    mailbox.takeNumber,
  );

  const surroundings = await selectSurroundings(
    mailbox,
    messages,
    attachments,
    reattachments,
    moved,
  );
  const states = await selectConversationStates(tx, organizationId, conversationsOf(surroundings));
  const stateOf = new Map(
    states.flatMap((state) => [
      [state.origin, state],
      [state.id, state],
    ]),
  );
  const groups = planThreads(messages, surroundings, (id) => stateOf.get(id)?.id ?? id);

  const placements = new Map<string, Placement>();
  const byId = new Map(incoming.map((one) => [one.thread.id, one]));
  for (const group of groups) {
    const members = group.messageIds.map((id) => byId.get(id)!);
    const places = await placeGroup(mailbox, members, group.conversationIds, stateOf, surroundings);
    members.forEach((member, index) => placements.set(member.thread.id, places[index]!));
  }
  return {
    placements,
    memory: memoryOf(mailboxId, messages, placements, surroundings, attachments, reattachments),
  };
}

async function placeGroup(
  mailbox: ThreadedMailbox,
  members: readonly IncomingMessage[],
  conversationIds: readonly string[],
  stateOf: ReadonlyMap<string, ConversationState>,
  surroundings: Surroundings,
): Promise<Placement[]> {
  const { tx, organizationId } = mailbox;
  const states = conversationIds.flatMap((id) => stateOf.get(id) ?? []);
  if (conversationIds.length < 2) {
    const place = await placeIn(mailbox, states[0] ?? null, members);
    return members.map(() => place);
  }
  if (!(await areParted(mailbox, conversationIds, states))) {
    const kept = await mergeConversations(
      tx,
      organizationId,
      conversationIds,
      SYSTEM,
      'same_thread',
    );
    const state = { origin: kept.id, ...kept };
    const place = await placeIn(mailbox, state, members);
    return members.map(() => place);
  }
  const places: Placement[] = [];
  for (const member of members) {
    const nearest = nearestConversation(member.thread, surroundings);
    const state = stateOf.get(nearest ?? '') ?? states.at(-1) ?? null;
    places.push(await placeIn(mailbox, state, [member]));
  }
  return places;
}

/** Conversations that people split, or of which one continues the other, stay two. */
async function areParted(
  { tx, organizationId }: ThreadedMailbox,
  conversationIds: readonly string[],
  states: readonly ConversationState[],
): Promise<boolean> {
  const linked = states.some(
    ({ linked_conversation_id: id }) => id !== null && conversationIds.includes(id),
  );
  return linked || werePartedByPeople(tx, organizationId, conversationIds);
}

async function placeIn(
  mailbox: ThreadedMailbox,
  state: ConversationState | null,
  members: readonly IncomingMessage[],
): Promise<Placement> {
  const fresh = (linkedConversationId: string | null): Placement => ({
    kind: 'new',
    id: uuidv7(),
    number: mailbox.takeNumber(),
    linkedConversationId,
  });
  if (state === null) return fresh(null);
  let target = state;
  if (members.some(({ imported }) => !imported)) {
    while (target.status === 'closed') {
      const next = await selectContinuation(mailbox.tx, mailbox.organizationId, target.id);
      if (next === null) return fresh(target.id);
      target = next;
    }
  }
  return { kind: 'existing', id: target.id };
}

async function selectSurroundings(
  { tx, organizationId, mailboxId }: ThreadedMailbox,
  messages: readonly ThreadMessage[],
  attachments: readonly Attachment[],
  reattachments: readonly Reattachment[],
  moved: ReadonlyMap<string, string>,
): Promise<Surroundings> {
  const ids = new Set(messages.flatMap(mentionedIds));
  const keys = new Set(messages.flatMap(sharedKeys));
  for (const { messageId, subject } of messages) {
    if (messageId === null) continue;
    ids.add(messageId);
    for (const key of mentionsOf(messageId, subject)) keys.add(key);
  }
  return {
    owners: await selectOwners(tx, organizationId, mailboxId, [...ids]),
    refs: await selectRefs(tx, organizationId, mailboxId, [...keys]),
    attachments: [
      ...attachments.flatMap(({ messageId, parentId, parentConversationId }) =>
        parentConversationId === null
          ? []
          : [{ messageId, conversationId: moved.get(parentId) ?? parentConversationId }],
      ),
      ...reattachments.map(({ messageId, parentId, conversationId }) => ({
        messageId: parentId,
        conversationId: moved.get(messageId) ?? conversationId,
      })),
    ],
    attachedPairs: attachments.filter((one) => one.parentConversationId === null),
  };
}

function conversationsOf({ owners, refs, attachments }: Surroundings): string[] {
  return [
    ...new Set([
      ...owners.map((owner) => owner.conversation_id),
      ...refs.values(),
      ...attachments.map((one) => one.conversationId),
    ]),
  ];
}

function memoryOf(
  mailboxId: string,
  messages: readonly ThreadMessage[],
  placements: ReadonlyMap<string, Placement>,
  { refs: known }: Surroundings,
  attachments: readonly Attachment[],
  reattachments: readonly Reattachment[],
): ThreadMemory {
  const refs = new Map<string, string>();
  for (const message of messages) {
    const conversationId = placements.get(message.id)!.id;
    for (const key of sharedKeys(message)) {
      // Owners of ids are looked up among the messages themselves.
      if (key.startsWith('own ') || known.get(key) === conversationId) continue;
      refs.set(key, conversationId);
    }
  }
  return {
    mailboxId,
    refs,
    messages: messages.map((message) => ({ ...message, isOrphan: isOrphan(message) })),
    parents: new Map(attachments.map((one) => [one.messageId, one])),
    changedParents: new Map(reattachments.map((one) => [one.messageId, one])),
  };
}

/** Writes what later messages of these mailboxes are compared with. Their messages are stored already. */
export async function rememberThreads(
  tx: SqlExecutor,
  organizationId: string,
  memories: readonly ThreadMemory[],
): Promise<void> {
  await upsertRefs(tx, organizationId, memories);
  await insertEvidence(tx, organizationId, memories);
  await updateParents(tx, organizationId, memories);
}
