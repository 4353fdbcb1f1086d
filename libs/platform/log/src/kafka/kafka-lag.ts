import type { KafkaMessage } from 'kafkajs';
import type { PartitionLag } from '../log';
import type { GroupStart } from '../record-source';
import type { KafkaConnection } from './kafka-connection';

/** How far a group is behind; of a partition that is, the age is that of its first unread record. */
export async function measureLag(
  connection: KafkaConnection,
  positions: readonly GroupStart[],
  physical: (topic: string) => string,
): Promise<PartitionLag[]> {
  const topics = [...new Set(positions.map(({ topic }) => physical(topic)))];
  const [first, end] = await Promise.all([
    connection.offsets(topics, 'earliest'),
    connection.offsets(topics, 'latest'),
  ]);
  const lags: PartitionLag[] = [];
  for (const { topic, part, offset } of positions) {
    const place = `${physical(topic)}/${part}`;
    const unread = Math.max(offset, first.get(place) ?? 0);
    const records = Math.max(0, (end.get(place) ?? 0) - unread);
    // One after another: kafkajs opens a socket for each fetch that finds none, and keeps only the last.
    const publishedAt =
      records === 0 ? null : await publishedAtOf(connection, physical(topic), part, unread);
    const oldestAgeMs = publishedAt === null ? 0 : Math.max(0, Date.now() - publishedAt);
    lags.push({ topic, partition: part, records, oldestAgeMs });
  }
  return lags;
}

/** Milliseconds since the epoch; null when the record has just gone. */
async function publishedAtOf(
  connection: KafkaConnection,
  topic: string,
  partition: number,
  offset: number,
): Promise<number | null> {
  const leader = connection.leaderOf(topic, partition);
  if (leader === undefined) return null;
  const broker = await connection.broker(leader);
  const answer = (await broker.fetch({
    maxWaitTime: 100,
    minBytes: 1,
    // A broker sends at least one batch, however little is asked for.
    maxBytes: 1,
    isolationLevel: 0,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: 1 }] }],
  })) as { responses: readonly { partitions: readonly { messages: readonly KafkaMessage[] }[] }[] };
  const messages = answer.responses[0]?.partitions[0]?.messages ?? [];
  const record = messages.find((message) => Number(message.offset) >= offset);
  return record === undefined ? null : Number(record.timestamp);
}
