import type { PoolClient } from 'pg';
import { InvalidError } from '@dak/kernel';
import type { LogMessage } from './log';
import { partitionOf } from './murmur2';
import { packBytes } from './packed-bytes';
import { prepared } from './prepared';

const LOCK_PARTITIONS = `
  select p.topic, p.part, p.next_off
    from log_partition p
    join unnest($1::text[], $2::integer[]) as wanted (topic, part) using (topic, part)
   order by p.topic, p.part
     for update of p`;

const INSERT = `
  insert into event_log (topic, part, off, event_id, key, headers, payload, published_at)
  select topic, part, off, event_id, key, headers, substring($7::bytea from start for length), clock.at
    from unnest($1::text[], $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[],
                $8::integer[], $9::integer[])
         as record (topic, part, off, event_id, key, headers, start, length),
         (select clock_timestamp() as at) as clock`;

const ADVANCE = `
  update log_partition p
     set next_off = grown.next_off
    from unnest($1::text[], $2::integer[], $3::bigint[]) as grown (topic, part, next_off)
   where p.topic = grown.topic and p.part = grown.part`;

interface Partition {
  topic: string;
  part: number;
  nextOffset: number;
}

/**
 * Appends messages in their order within the caller's transaction. The partitions stay locked until
 * it ends (always in the same order, so appenders cannot deadlock), hence offsets have no gaps.
 */
export async function appendRecords(
  client: PoolClient,
  topics: ReadonlyMap<string, number>,
  messages: readonly LogMessage[],
): Promise<void> {
  const placed = messages.map((message) => ({ message, ...partitionFor(topics, message) }));
  const partitions = await lockPartitions(client, placed);
  const offsets = placed.map(({ topic, part }) => {
    const partition = partitions.get(`${topic}/${part}`);
    if (partition === undefined) throw new Error(`partition ${topic}/${part} does not exist`);
    return partition.nextOffset++;
  });
  const { bytes, starts, lengths } = packBytes(messages.map(({ payload }) => payload));
  const inserted = prepared(INSERT, [
    placed.map(({ topic }) => topic),
    placed.map(({ part }) => part),
    offsets,
    messages.map(({ id }) => id),
    messages.map(({ key }) => key),
    messages.map(({ headers }) => JSON.stringify(headers)),
    bytes,
    starts,
    lengths,
  ]);
  await client.query(inserted);
  const grown = [...partitions.values()];
  await client.query(
    prepared(ADVANCE, [
      grown.map(({ topic }) => topic),
      grown.map(({ part }) => part),
      grown.map(({ nextOffset }) => nextOffset),
    ]),
  );
}

async function lockPartitions(
  client: PoolClient,
  placed: readonly { topic: string; part: number }[],
): Promise<Map<string, Partition>> {
  const wanted = [...new Map(placed.map((p) => [`${p.topic}/${p.part}`, p])).values()];
  const { rows } = await client.query<{ topic: string; part: number; next_off: string }>(
    prepared(LOCK_PARTITIONS, [wanted.map(({ topic }) => topic), wanted.map(({ part }) => part)]),
  );
  return new Map(
    rows.map(({ topic, part, next_off }) => [
      `${topic}/${part}`,
      { topic, part, nextOffset: Number(next_off) },
    ]),
  );
}

function partitionFor(
  topics: ReadonlyMap<string, number>,
  { topic, key }: LogMessage,
): { topic: string; part: number } {
  const count = topics.get(topic);
  if (count === undefined) {
    throw new InvalidError(`There is no topic "${topic}"; add it to the topics of the log.`);
  }
  return { topic, part: partitionOf(key, count) };
}
