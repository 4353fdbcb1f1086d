import { DomainVerified } from '@dak/contracts/events';
import { type Actor, uuidv7 } from '@dak/kernel';
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
  const { organizationId, occurredAt, actor } = facts;
  const { rows } = await tx.query<{ sequence: number }>(NUMBER, [organizationId]);
  await appendToOutbox(tx, [
    {
      id: `evt_${uuidv7()}`,
      type: 'domain.verified',
      source: 'mail',
      organizationId,
      partitionKey: organizationId,
      sequence: rows[0]!.sequence,
      occurredAt: new Date(occurredAt),
      actor: { type: actor.type, id: actor.id ?? '', name: actor.name },
      causationDepth: 0,
      dataSchema: 'dak.events.v1.DomainVerified',
      dataVersion: 1,
      data: Buffer.from(DomainVerified.encode(data).finish()),
    },
  ]);
}
