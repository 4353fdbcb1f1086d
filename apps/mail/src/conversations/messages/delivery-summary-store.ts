import type { MessageRecord } from '@dak/contracts/api';
import type { SqlExecutor } from '@dak/platform/postgres';
import { type DeliveryRow, summarizeDeliveries } from './delivery-state';

/**
 * What became of each recipient of these outbound messages. Messages without deliveries (inbound
 * mail, notes) have no entry.
 * @param includeBcc Whether the caller may know of Bcc: they need mail.send.
 */
export async function deliverySummaries(
  tx: SqlExecutor,
  organizationId: string,
  messageIds: readonly string[],
  includeBcc: boolean,
): Promise<Map<string, NonNullable<MessageRecord['delivery']>>> {
  const rows = await selectDeliveries(tx, organizationId, messageIds);
  const groups = Map.groupBy(rows, (row) => row.submission_id);
  return new Map(
    [...groups].map(([id, group]) => [
      id,
      summarizeDeliveries(includeBcc ? group : group.filter((row) => row.role !== 'bcc')),
    ]),
  );
}

export async function selectDeliveries(
  tx: SqlExecutor,
  organizationId: string,
  submissionIds: readonly string[],
): Promise<DeliveryRow[]> {
  if (submissionIds.length === 0) return [];
  const { rows } = await tx.query<DeliveryRow>(
    `select submission_id, role, recipient, state, attempts, next_attempt_at, smtp_code, diagnostic, updated_at
       from delivery
      where organization_id = $1 and submission_id = any($2::uuid[])
      order by submission_id, position`,
    [organizationId, submissionIds],
  );
  return rows;
}
