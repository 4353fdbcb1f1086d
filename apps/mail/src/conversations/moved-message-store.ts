import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationRow } from './conversation-row';

export async function moveAllMessages(
  tx: SqlExecutor,
  organizationId: string,
  sourceIds: readonly string[],
  targetId: string,
): Promise<void> {
  await tx.query(
    `update message set conversation_id = $3 where organization_id = $1 and conversation_id = any($2::uuid[])`,
    [organizationId, sourceIds, targetId],
  );
}

/** @returns the subject of the oldest message moved */
export async function moveMessages(
  tx: SqlExecutor,
  organizationId: string,
  split: { readonly messageIds: readonly string[]; readonly newConversationId: string },
): Promise<Pick<ConversationRow, 'subject' | 'base_subject'>> {
  const { rows } = await tx.query<{ subject: string; base_subject: string; sort_at: string }>(
    `update message set conversation_id = $3
      where organization_id = $1 and id = any($2::uuid[])
  returning subject, base_subject, sort_at`,
    [organizationId, split.messageIds, split.newConversationId],
  );
  const oldest = rows.reduce((a, b) => (b.sort_at < a.sort_at ? b : a));
  return { subject: oldest.subject, base_subject: oldest.base_subject };
}
