import type { SqlExecutor } from '@dak/platform/postgres';

/**
 * Makes scheduled mail with `cancel_if_reply` of conversations that were just answered due at once:
 * the delivery worker then finds the answer and withdraws it, instead of leaving it in the outbox
 * until its time.
 * @param answeredAt `created_at` of the answer, which must be stored in this transaction
 */
export async function bringForwardAnswered(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
  answeredAt: string,
): Promise<void> {
  await tx.query(
    `update delivery d
        set next_attempt_at = now()
       from message o
       join submission s on s.organization_id = o.organization_id and s.id = o.id
      where o.organization_id = $1 and o.conversation_id = any($2::uuid[])
        and o.direction = 'outbound' and o.status = 'scheduled'
        and s.cancel_if_reply and s.created_at < $3::timestamptz
        and d.organization_id = s.organization_id and d.submission_id = s.id and d.state = 'scheduled'`,
    [organizationId, conversationIds, answeredAt],
  );
}
