import { uuidv7 } from '@dak/kernel';
import type { EventEnvelope } from '@dak/contracts/events';
import { slowPeer } from '@dak/testing/waiting';
import { appendToOutbox } from '../../src/index';
import { KEYS, ORGANIZATION, onStop, openService } from './stage';

const NEXT = `
  insert into aggregate (key, seq) values ($1, 1)
  on conflict (key) do update set seq = aggregate.seq + 1
  returning seq`;
const PAUSE_MS = 5;

/** Changes aggregates for ever, a few at a time, and prints the ids of events once they are committed. */
async function main(): Promise<void> {
  const database = openService('writer');
  let running = true;
  onStop(async () => {
    running = false;
    await slowPeer(100);
    await database.close();
  });
  while (running) {
    const ids: string[] = [];
    try {
      await database.inTenant(ORGANIZATION, async (tx) => {
        ids.length = 0;
        const events: EventEnvelope[] = [];
        // Always in the same order, so that writers do not wait for each other in a circle.
        for (const key of someKeys()) {
          const { rows } = await tx.query<{ seq: string }>(NEXT, [key]);
          const event = eventOf(key, Number(rows[0]!.seq));
          await tx.query('insert into written (event_id, key, seq) values ($1, $2, $3)', [
            event.id,
            key,
            event.sequence,
          ]);
          events.push(event);
          ids.push(event.id);
        }
        await appendToOutbox(tx, events);
        if (Math.random() < 0.1) throw new Error('changed its mind');
      });
      process.stdout.write(`${ids.join(' ')}\n`);
    } catch {
      // Rolled back, or unknown: no id is printed.
    }
    await slowPeer(PAUSE_MS);
  }
}

function someKeys(): string[] {
  const count = 1 + Math.floor(Math.random() * 3);
  return Array.from({ length: count }, () => `c${Math.floor(Math.random() * KEYS)}`).sort();
}

function eventOf(key: string, sequence: number): EventEnvelope {
  return {
    id: `evt_${uuidv7()}`,
    type: 'mail.received',
    source: 'mail',
    organizationId: ORGANIZATION,
    conversationId: key,
    partitionKey: `${ORGANIZATION}:${key}`,
    causationDepth: 0,
    sequence,
    occurredAt: new Date(),
    dataSchema: 'dak.events.v1.MailReceived',
    dataVersion: 1,
    data: Buffer.alloc(200),
  };
}

void main();
