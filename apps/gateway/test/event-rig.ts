import { join } from 'node:path';
import pg from 'pg';
import { ConversationUpdated, EventEnvelope, type EventKind } from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { PostgresLog, toLogMessage } from '@dak/platform/log';
import { createTestDatabase } from '@dak/testing/database';

/** A log of its own, to which a test publishes what services would. */
export async function openTestLog() {
  const database = await createTestDatabase({
    name: 'log',
    migrationsFolder: join(__dirname, '../../../libs/platform/log/migrations'),
  });
  const pool = new pg.Pool({ connectionString: database.url, max: 6 });
  const log = await PostgresLog.open({ pool, onError: () => undefined });
  return {
    log,
    /** In order; those of one conversation in one partition. */
    publish: (events: readonly EventEnvelope[]) => log.publish(events.map(toLogMessage)),
    close: async () => {
      await log.close();
      await pool.end();
      await database.drop();
    },
  };
}

export interface EventFacts {
  organizationId: string;
  conversationId?: string | null;
  mailboxId?: string | null;
  departmentId?: string | null;
  type?: EventKind;
  sequence?: number;
  reason?: string;
}

/** A change of a conversation, or of nothing in particular. */
export function eventOf(facts: EventFacts): EventEnvelope {
  const { organizationId, conversationId = uuidv7(), mailboxId = uuidv7() } = facts;
  return EventEnvelope.fromPartial({
    id: `evt_${uuidv7()}`,
    type: facts.type ?? 'conversation.updated',
    source: 'mail',
    organizationId,
    mailboxId: mailboxId ?? undefined,
    departmentId: facts.departmentId ?? undefined,
    conversationId: conversationId ?? undefined,
    partitionKey: `${organizationId}:${conversationId ?? ''}`,
    sequence: facts.sequence ?? 1,
    occurredAt: new Date(),
    actor: { type: 'system', id: '', name: 'Dak' },
    dataSchema: 'dak.events.v1.ConversationUpdated',
    dataVersion: 1,
    data: Buffer.from(
      ConversationUpdated.encode(
        ConversationUpdated.fromPartial({ reason: facts.reason ?? 'changed' }),
      ).finish(),
    ),
  });
}
