import { DisjointSets } from './disjoint-sets';
import type { OwnerRow } from './thread-store';
import {
  foldSubject,
  hasWeakReferences,
  mentionedIds,
  mentionsOf,
  sharedKeys,
  type ThreadMessage,
} from './threading';

/** Stored data related to the new messages. */
export interface Surroundings {
  owners: readonly OwnerRow[];
  /** Conversations by key of `sharedKeys`. */
  refs: ReadonlyMap<string, string>;
  /** Conversation of every stored message that is a parent of a new one, or got a new one as parent. */
  attachments: readonly { messageId: string; conversationId: string }[];
  /** New messages that are attached to one another. */
  attachedPairs: readonly { messageId: string; parentId: string }[];
}

/** New messages that belong together, and the stored conversations they belong to. */
export interface ThreadGroup {
  messageIds: string[];
  conversationIds: string[];
}

/** Joins new messages and stored conversations by the relations of `threading.ts`. */
export function planThreads(
  messages: readonly ThreadMessage[],
  surroundings: Surroundings,
  conversationOf: (storedId: string) => string,
): ThreadGroup[] {
  const sets = new DisjointSets();
  const conversations = new Set<string>();
  const conversation = (storedId: string): string => {
    const id = conversationOf(storedId);
    conversations.add(id);
    return `conversation ${id}`;
  };
  const ownersById = Map.groupBy(surroundings.owners, (owner) => owner.message_id_header);
  const keyed = new Set<string>();
  for (const message of messages) {
    for (const key of sharedKeys(message)) {
      keyed.add(key);
      sets.join(message.id, key);
    }
  }
  for (const [key, id] of surroundings.refs) {
    keyed.add(key);
    sets.join(key, conversation(id));
  }
  for (const message of messages) {
    for (const id of hitConversations(message, ownersById)) sets.join(message.id, conversation(id));
    if (message.messageId === null) continue;
    for (const key of mentionsOf(message.messageId, message.subject)) {
      if (keyed.has(key)) sets.join(message.id, key);
    }
  }
  for (const { messageId, conversationId } of surroundings.attachments) {
    sets.join(messageId, conversation(conversationId));
  }
  for (const { messageId, parentId } of surroundings.attachedPairs) sets.join(messageId, parentId);

  return [...Map.groupBy(messages, (message) => sets.find(message.id))].map(([set, members]) => ({
    messageIds: members.map((message) => message.id),
    conversationIds: [...conversations].filter((id) => sets.find(`conversation ${id}`) === set),
  }));
}

/** Conversations of stored messages that the message refers to, or that carry its Message-ID under its subject. */
function hitConversations(
  message: ThreadMessage,
  ownersById: ReadonlyMap<string, readonly OwnerRow[]>,
): string[] {
  const weak = hasWeakReferences(message);
  const sameSubject = (owner: OwnerRow) => foldSubject(owner.base_subject) === message.subject;
  const mentioned = mentionedIds(message)
    .flatMap((id) => ownersById.get(id) ?? [])
    .filter((owner) => !weak || sameSubject(owner));
  const copies =
    message.messageId === null || message.subject === ''
      ? []
      : (ownersById.get(message.messageId) ?? []).filter(sameSubject);
  return [...mentioned, ...copies].map((owner) => owner.conversation_id);
}

/** The conversation a message answers most directly: In-Reply-To, then References from the nearest; null when none is stored. */
export function nearestConversation(
  message: ThreadMessage,
  { owners, refs }: Pick<Surroundings, 'owners' | 'refs'>,
): string | null {
  const ids = [message.inReplyTo, ...message.references.toReversed()];
  for (const id of ids) {
    const owner = owners.find((row) => row.message_id_header === id);
    if (owner !== undefined) return owner.conversation_id;
  }
  for (const key of sharedKeys(message)) {
    const conversation = refs.get(key);
    if (conversation !== undefined) return conversation;
  }
  return null;
}
