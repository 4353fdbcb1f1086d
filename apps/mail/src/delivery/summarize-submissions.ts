import { type Actor, type ActorType, SYSTEM } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { messageStatusOf, summarizeStates } from '../conversations/messages/delivery-state';
import { reviseConversations } from '../conversations/revise-conversations';
import {
  type LockedSubmission,
  lowerScheduledCounts,
  selectStates,
  updateMessages,
  updateSubmissions,
} from './result-store';

/** What submissions and their messages show follows the states of their deliveries. */
export async function summarize(
  tx: SqlExecutor,
  organizationId: string,
  touched: readonly string[],
  at: string,
): Promise<void> {
  const states = await selectStates(tx, organizationId, touched);
  const changes = states.map((row) => ({
    id: row.submission_id,
    status: summarizeStates(row.states),
    is_finished: row.is_finished,
    is_sent: row.states.includes('sent'),
  }));
  await Promise.all([
    updateSubmissions(tx, organizationId, changes, at),
    updateMessages(
      tx,
      organizationId,
      changes.map((change) => ({ ...change, status: messageStatusOf(change.status) })),
      at,
    ),
  ]);
}

/** Scheduled mail that has left, or was withdrawn, is no longer waiting in its conversation. */
export async function releaseScheduled(
  tx: SqlExecutor,
  organizationId: string,
  released: readonly (LockedSubmission & { isWithdrawn: boolean })[],
  now: number,
): Promise<void> {
  await lowerScheduledCounts(
    tx,
    organizationId,
    released.map((row) => row.conversation_id),
  );
  await reviseConversations(
    tx,
    organizationId,
    released.map((row) => ({
      conversationId: row.conversation_id,
      event: row.isWithdrawn ? 'withdrawn' : 'released',
      actor: authorOf(row),
    })),
    now,
  );
}

/** Who sent it. */
export function authorOf(row: LockedSubmission): Actor {
  return row.author_type === ''
    ? SYSTEM
    : {
        type: row.author_type as ActorType,
        id: row.author_id,
        name: row.author_name,
        runId: row.author_run_id,
      };
}
