import type { SqlExecutor } from '@dak/platform/postgres';
import type { NewMessage } from '../../conversations/messages/new-message';
import { recordMessages } from '../../conversations/messages/record-messages';
import { bringForwardAnswered } from '../../delivery/answered-store';

/** Stores mail that has come in; scheduled mail that it answers is decided at once. */
export async function recordInbound(
  tx: SqlExecutor,
  organizationId: string,
  messages: readonly NewMessage[],
  now: number = Date.now(),
): Promise<void> {
  const recorded = await recordMessages(tx, organizationId, messages, now);
  const answered = recorded.flatMap((row) => (row.isAnswer ? [row.conversationId] : []));
  if (answered.length === 0) return;
  const answeredAt = new Date(now).toISOString();
  await bringForwardAnswered(tx, organizationId, [...new Set(answered)], answeredAt);
}
