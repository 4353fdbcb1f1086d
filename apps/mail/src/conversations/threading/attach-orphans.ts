import {
  bestParent,
  isBetterParent,
  parentFacts,
  parentScore,
  type ParentFacts,
  type ThreadMessage,
} from './threading';

/** A stored message as the choice of parents sees it. */
export interface StoredCandidate {
  facts: ParentFacts;
  conversationId: string;
  /** The parent it has; null when it is no orphan or hangs on nothing. */
  parent: { id: string; score: number; datedAt: number; contentHash: string } | null;
}

export interface Attachment {
  /** The orphan. */
  messageId: string;
  parentId: string;
  score: number;
  /** Conversation of the parent; null when the parent is new. */
  parentConversationId: string | null;
}

export interface Reattachment extends Attachment {
  /** Conversation the stored orphan is in. */
  conversationId: string;
  formerParentId: string | null;
}

/** Parents for the orphans among the new messages. */
export function attachNew(
  messages: readonly ThreadMessage[],
  stored: readonly StoredCandidate[],
): Attachment[] {
  const facts = messages.map(parentFacts);
  const conversations = new Map(stored.map((one) => [one.facts.id, one.conversationId]));
  return facts.flatMap((orphan) => {
    if (!orphan.isOrphan) return [];
    const best = bestParent(orphan, [...facts, ...stored.map((one) => one.facts)]);
    if (best === null) return [];
    return [
      {
        messageId: orphan.id,
        parentId: best.facts.id,
        score: best.score,
        parentConversationId: conversations.get(best.facts.id) ?? null,
      },
    ];
  });
}

/** Stored orphans for which a new message is a better parent than the one they have. */
export function reattachStored(
  messages: readonly ThreadMessage[],
  stored: readonly StoredCandidate[],
): Reattachment[] {
  const facts = messages.map(parentFacts);
  return stored.flatMap(({ facts: orphan, conversationId, parent }) => {
    if (!orphan.isOrphan) return [];
    const best = bestParent(orphan, facts);
    if (best === null) return [];
    if (parent !== null) {
      const present: ParentFacts = {
        ...orphan,
        id: parent.id,
        datedAt: parent.datedAt,
        contentHash: parent.contentHash,
      };
      if (!isBetterParent(orphan, best, { facts: present, score: parent.score })) return [];
    }
    return [
      {
        messageId: orphan.id,
        parentId: best.facts.id,
        score: parentScore(orphan, best.facts),
        parentConversationId: null,
        conversationId,
        formerParentId: parent?.id ?? null,
      },
    ];
  });
}
