/** Ids in References besides the first: long threads would outgrow header limits of relays. */
const KEPT_LAST = 20;

/** msg-ids without angle brackets. */
export interface ThreadHeaders {
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
}

/**
 * In-Reply-To and References of an answer (RFC 5322 §3.6.4): the parent's References (or its
 * In-Reply-To when it has none) and the parent, each once; of a long chain the first id, by which
 * threads are found, and the last ones.
 */
export function replyReferences(parent: {
  messageId: string | null;
  inReplyTo: string | null;
  references: readonly string[];
}): ThreadHeaders {
  const ancestors =
    parent.references.length > 0
      ? parent.references
      : parent.inReplyTo === null
        ? []
        : [parent.inReplyTo];
  const chain = parent.messageId === null ? [...ancestors] : [...ancestors, parent.messageId];
  // The last occurrence counts: the parent stands at the end whatever its own References say.
  const unique = chain.filter((id, index) => isMessageId(id) && chain.lastIndexOf(id) === index);
  const references =
    unique.length <= KEPT_LAST + 1 ? unique : [unique[0]!, ...unique.slice(-KEPT_LAST)];
  const inReplyTo =
    parent.messageId !== null && isMessageId(parent.messageId) ? parent.messageId : null;
  return { inReplyTo, references };
}

/** Foreign ids are repeated in our headers: nothing that could end the id or the line. */
function isMessageId(id: string): boolean {
  return id.length > 0 && id.length <= 900 && !/[\s<>\p{Cc}]/u.test(id);
}
