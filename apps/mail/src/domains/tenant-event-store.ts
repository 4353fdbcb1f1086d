import { eventEnvelope, type DomainVerified } from '@dak/contracts/events';
import type { Actor } from '@dak/kernel';
import { appendToOutbox } from '@dak/platform/log';
import type { SqlExecutor } from '@dak/platform/postgres';

/** The row lock of the organization makes the order of numbers that of commits. */
const NUMBER = `
  insert into organization as o (organization_id, name, event_sequence, updated_at)
  values ($1, '', 1, now())
      on conflict (organization_id) do update set event_sequence = o.event_sequence + 1
  returning event_sequence as "sequence"`;

/** Writes `domain.verified` into the outbox, in the transaction of the change. */
export async function appendDomainVerified(
  tx: SqlExecutor,
  facts: { organizationId: string; occurredAt: number; actor: Actor },
  data: DomainVerified,
): Promise<void> {
  const { organizationId } = facts;
  const { rows } = await tx.query<{ sequence: number }>(NUMBER, [organizationId]);
  await appendToOutbox(tx, [
    eventEnvelope(
      'domain.verified',
      { ...facts, source: 'mail', partitionKey: organizationId, sequence: rows[0]!.sequence },
      data,
    ),
  ]);
}
