import type { Database } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';

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
