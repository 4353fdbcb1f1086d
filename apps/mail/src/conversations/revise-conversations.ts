import type { Actor } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ActivityEntry } from './activity-store';
import { aggregate } from './conversation-aggregates';
import type { ConversationRow } from './conversation-row';
import { statusAfterMessage, statusAfterWithdrawal, withStatus } from './conversation-status';
import { lockConversations, selectMessageFacts } from './conversation-store';
import { saveConversations, type ConversationChange } from './save-conversations';

export interface Revision {
  conversationId: string;
  /**
   * What happened to one of its messages: `released` = outbound mail that was scheduled or held is now
   * in the queue, `withdrawn` = it was canceled or undone, `changed` = a delivery status or a flag.
   */
  event: 'released' | 'withdrawn' | 'changed';
  actor: Actor;
}

/**
 * Recomputes conversations after stored messages changed status, and updates their status.
 * Call it in the transaction of the change, after it.
 */
export async function reviseConversations(
  tx: SqlExecutor,
  organizationId: string,
  revisions: readonly Revision[],
  now: number = Date.now(),
): Promise<ConversationRow[]> {
  const ids = [...new Set(revisions.map((revision) => revision.conversationId))];
  const locked = await lockConversations(tx, organizationId, ids);
  const facts = Map.groupBy(
    await selectMessageFacts(tx, organizationId, ids),
    (message) => message.conversation_id,
  );
  const changes = locked.map(({ mailbox_address: address, ...before }): ConversationChange => {
    const mine = revisions.filter((revision) => revision.conversationId === before.id);
    let after: ConversationRow = {
      ...before,
      ...aggregate(facts.get(before.id) ?? [], before.last_message_at, address),
    };
    for (const { event } of mine) after = moved(after, event, new Date(now).toISOString());
    const activity: ActivityEntry[] =
      after.status === before.status
        ? []
        : [
            {
              type: 'status_changed',
              before: before.status,
              after: after.status,
              reason: mine.some(({ event }) => event === 'withdrawn')
                ? 'message_withdrawn'
                : 'message_sent',
            },
          ];
    return {
      before,
      after,
      reason: activity.length === 0 ? 'messages_changed' : 'status_changed',
      actor: mine[0]!.actor,
      activity,
    };
  });
  return saveConversations(tx, organizationId, changes, now);
}

function moved(row: ConversationRow, event: Revision['event'], at: string): ConversationRow {
  switch (event) {
    case 'released':
      return statusAfterMessage(row, {
        direction: 'outbound',
        isAutomatic: false,
        isReleased: true,
      });
    case 'withdrawn':
      // It has no sent or received mail, so nothing is pending.
      if (row.last_message_id === null && row.scheduled_count === 0) {
        return withStatus(row, 'resolved', at);
      }
      return statusAfterWithdrawal(row, row.waiting_since !== null);
    case 'changed':
      return row;
  }
}
