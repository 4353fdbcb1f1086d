import { type Actor, InvalidError, NotFoundError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { aggregate } from './conversation-aggregates';
import type { ConversationRow } from './conversation-row';
import { lockConversations, selectMessageFacts } from './conversation-store';
import { moveMessages } from './moved-message-store';
import { saveConversations } from './save-conversations';

export interface Split {
  conversationId: string;
  /** Some of its messages, never all. */
  messageIds: readonly string[];
  newConversationId: string;
  /** From `allocateConversationNumbers`. */
  newNumber: number;
}

/**
 * Moves messages into a conversation of their own, which keeps mailbox, department, labels and status.
 * @returns the new conversation
 * @throws NotFoundError when the conversation does not exist or was merged
 * @throws InvalidError when a message is not in it, or none would be left
 */
export async function splitConversation(
  tx: SqlExecutor,
  organizationId: string,
  split: Split,
  actor: Actor,
  now: number = Date.now(),
): Promise<ConversationRow> {
  const [locked] = await lockConversations(tx, organizationId, [split.conversationId]);
  if (locked === undefined || locked.merged_into_id !== null) {
    throw new NotFoundError('conversation');
  }
  const { mailbox_address: address, ...source } = locked;
  const facts = await selectMessageFacts(tx, organizationId, [source.id]);
  const moving = new Set(split.messageIds);
  const [moved, left] = [
    facts.filter(({ id }) => moving.has(id)),
    facts.filter(({ id }) => !moving.has(id)),
  ];
  if (moved.length < moving.size || moved.length === 0) {
    throw new InvalidError('message_ids must name messages of this conversation.');
  }
  if (left.length === 0) {
    throw new InvalidError('message_ids names every message: leave at least one behind.');
  }
  const subject = await moveMessages(tx, organizationId, split);
  const at = new Date(now).toISOString();
  const part: ConversationRow = {
    ...source,
    ...aggregate(moved, at, address),
    ...subject,
    id: split.newConversationId,
    number: split.newNumber,
    open_draft_id: null,
    open_approval_id: null,
    scheduled_count: 0,
    linked_conversation_id: null,
    event_sequence: 0,
    version: 1,
    created_at: at,
    updated_at: at,
  };
  const rest: ConversationRow = { ...source, ...aggregate(left, source.created_at, address) };
  const messageIds = moved.map(({ id }) => id);
  const saved = await saveConversations(
    tx,
    organizationId,
    [
      {
        before: null,
        after: part,
        reason: 'split',
        actor,
        activity: [
          {
            type: 'split',
            before: null,
            after: { from_conversation_id: source.id, message_ids: messageIds },
            reason: null,
          },
        ],
      },
      {
        before: source,
        after: rest,
        reason: 'split',
        actor,
        activity: [
          {
            type: 'split',
            before: null,
            after: { into_conversation_id: part.id, message_ids: messageIds },
            reason: null,
          },
        ],
      },
    ],
    now,
  );
  return saved[0]!;
}
