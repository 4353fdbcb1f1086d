import { EventEnvelope, topicOf, type EventKind } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { LogMessage, LogRecord } from './log';
import { partitionOf } from './murmur2';
import { packBytes } from './packed-bytes';

/** A key stays in one shard, so that one relay at a time moves it. */
export const OUTBOX_SHARDS = 8;

/** Given by a transaction that wrote to the outbox, so that the relay of the same process does not wait for its poll. */
export const OUTBOX_SIGNAL = 'outbox';

const APPEND = `
  insert into outbox (id, topic, key, shard, headers, payload)
  select id, topic, key, shard, headers, substring($6::bytea from start for length)
    from unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::jsonb[],
                $7::integer[], $8::integer[])
         with ordinality as event (id, topic, key, shard, headers, start, length, position)
   order by position`;

const APPEND_ONE = `
  insert into outbox (id, topic, key, shard, headers, payload) values ($1, $2, $3, $4, $5, $6)`;
/** Up to here a plain statement for each costs less than taking arrays apart: half for a single event. */
const FEW_EVENTS = 3;

/**
 * Writes events into the outbox in the caller's transaction, in their order and one round trip. The
 * caller holds the row lock of each event's aggregate: only then is the order of `seq` the order of
 * commits per key.
 */
export async function appendToOutbox(
  executor: SqlExecutor,
  events: readonly EventEnvelope[],
): Promise<void> {
  if (events.length === 0) return;
  const messages = events.map(toLogMessage);
  if (messages.length <= FEW_EVENTS) {
    await Promise.all(messages.map((message) => appendOne(executor, message)));
  } else {
    await appendMany(executor, messages);
  }
  executor.signal?.(OUTBOX_SIGNAL);
}

async function appendOne(executor: SqlExecutor, message: LogMessage): Promise<void> {
  const { id, topic, key, headers, payload } = message;
  await executor.query(APPEND_ONE, [
    ...[id, topic, key, partitionOf(key, OUTBOX_SHARDS), JSON.stringify(headers)],
    Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
  ]);
}

async function appendMany(executor: SqlExecutor, messages: readonly LogMessage[]): Promise<void> {
  const { bytes, starts, lengths } = packBytes(messages.map(({ payload }) => payload));
  await executor.query(APPEND, [
    messages.map((message) => message.id),
    messages.map((message) => message.topic),
    messages.map((message) => message.key),
    messages.map((message) => partitionOf(message.key, OUTBOX_SHARDS)),
    messages.map((message) => JSON.stringify(message.headers)),
    bytes,
    starts,
    lengths,
  ]);
}

/** The whole envelope is the payload; headers repeat what can be asked without decoding (CloudEvents names). */
export function toLogMessage(event: EventEnvelope): LogMessage {
  return {
    id: event.id,
    topic: topicOf(event.type as EventKind),
    key: event.partitionKey,
    headers: {
      'content-type': 'application/protobuf',
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: event.type,
      ce_source: event.source,
      ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
    },
    payload: EventEnvelope.encode(event).finish(),
  };
}

/** @throws InvalidError when the bytes are no envelope, which parks the key. */
export function fromLogRecord(record: LogRecord): EventEnvelope {
  let event: EventEnvelope;
  try {
    event = EventEnvelope.decode(record.payload);
  } catch {
    throw new InvalidError(`The payload of ${record.id} is not an EventEnvelope.`, 'undecodable');
  }
  if (event.id !== record.id) {
    throw new InvalidError(
      `The payload of ${record.id} is the envelope of ${event.id}.`,
      'undecodable',
    );
  }
  return event;
}

const CLAIM = `
  insert into inbox (group_name, event_id)
  select $1, event_id from unnest($2::text[]) as event_id
  on conflict do nothing
  returning event_id`;

/**
 * The ids that this group has not handled yet, marked as handled in the caller's transaction: effects
 * in the same transaction happen once, however often the event is delivered.
 */
export async function claimInbox(
  executor: SqlExecutor,
  group: string,
  eventIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await executor.query<{ event_id: string }>(CLAIM, [group, eventIds]);
  return new Set(rows.map((row) => row.event_id));
}

/** Forgets what is older than every possible redelivery, `limit` rows at most. @returns rows removed. */
export async function sweepInbox(
  executor: SqlExecutor,
  keepDays: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await executor.query(
    `delete from inbox
      where ctid = any(array(
            select ctid from inbox
             where received_at < now() - make_interval(days => $1) limit $2))`,
    [keepDays, limit],
  );
  return rowCount;
}
