import type { Database, SqlExecutor } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';

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

/** Submissions whose conversation has had mail of a person from outside since they were accepted. */
export async function findAnswered(
  database: Database,
  deliveries: readonly ClaimedDelivery[],
): Promise<Set<string>> {
  const answered = new Set<string>();
  for (const [organizationId, some] of Map.groupBy(deliveries, (item) => item.organizationId)) {
    const [rows = []] = await database.batchInTenant(organizationId, [
      {
        name: 'submission_answered',
        text: `select w.id
                 from unnest($2::uuid[], $3::timestamptz[]) as w (id, since)
                 join message o on o.organization_id = $1 and o.id = w.id
                where exists (select from message i
                               where i.organization_id = $1 and i.conversation_id = o.conversation_id
                                 and i.direction = 'inbound' and coalesce(i.kind, 'human') in ('human', 'list')
                                 and i.created_at > w.since)`,
        values: [
          organizationId,
          some.map(({ submissionId }) => submissionId),
          some.map(({ submittedAt }) => submittedAt),
        ],
      },
    ]);
    for (const row of rows) answered.add(row['id'] as string);
  }
  return answered;
}
