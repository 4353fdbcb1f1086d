import { createHash } from 'node:crypto';
import { uuidv7 } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { spoolEntry } from '../src/spool/spool-entry';
import { storedMessages, type InboundParts } from '../test/inbound-fixtures';
import { insertMailbox } from '../test/mail-fixtures';
import { shuffled } from './pair-score';

/** A message of an archive under the id that scores know it by. */
export interface ArchiveMessage {
  id: string;
  raw: Buffer;
}

/** How messages come in: in the order of the file, the other way round, or in an order drawn from `random`. */
export type Arrival = 'as filed' | 'reversed' | (() => number);

/** Messages that are spooled together, and then worked off. */
const FILED_CHUNK = 120;
const MIXED_CHUNK = 40;

/**
 * Puts the messages into a new mailbox through spool and pipeline, worked off by two lanes at once,
 * each twentieth message twice.
 * @returns the ids by conversation
 */
export async function threadInDatabase(
  database: Database,
  inbound: InboundParts,
  messages: readonly ArchiveMessage[],
  arrival: Arrival,
): Promise<string[][]> {
  const organizationId = uuidv7();
  const { id: mailboxId, address } = await insertMailbox(database, organizationId);
  const order = inOrder(messages, arrival);
  const chunk = arrival === 'as filed' ? FILED_CHUNK : MIXED_CHUNK;
  for (let start = 0; start < order.length; start += chunk) {
    const part = order.slice(start, start + chunk);
    const again = part.filter((_, index) => (start + index) % 20 === 0);
    await inbound.spool.append(
      [...part, ...again].map(({ raw }) =>
        spoolEntry({
          organizationId,
          mailboxId,
          source: 'smtp',
          recipient: address,
          receivedAt: new Date(0),
          raw,
        }),
      ),
    );
    await Promise.all([inbound.pipeline.drain(), inbound.pipeline.drain()]);
  }
  const idOf = new Map(messages.map(({ id, raw }) => [rawHash(raw), id]));
  const rows = await storedMessages(database, organizationId, mailboxId);
  return [...Map.groupBy(rows, (row) => row.conversation_id).values()].map((group) =>
    group.map((row) => idOf.get(row.raw_sha256) ?? row.raw_sha256),
  );
}

function rawHash(raw: Buffer): string {
  return createHash('sha256').update(raw).digest('hex');
}

function inOrder(messages: readonly ArchiveMessage[], arrival: Arrival): ArchiveMessage[] {
  if (arrival === 'as filed') return [...messages];
  return arrival === 'reversed' ? messages.toReversed() : shuffled(messages, arrival);
}
