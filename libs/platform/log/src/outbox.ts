import { EventEnvelope, topicOf } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { currentTraceparent } from '@dak/platform/telemetry';
import type { LogMessage, LogRecord, OutboxRow } from './log';
import { partitionOf } from './murmur2';
import { packBytes } from './packed-bytes';

type Kind = Parameters<typeof topicOf>[0];

/** A key stays in one shard, so that one relay at a time moves it. */
export const OUTBOX_SHARDS = 8;

/** Given by a transaction that wrote to the outbox, so that the relay of the same process does not wait for its poll. */
export const OUTBOX_SIGNAL = 'outbox';

const APPEND = `
  insert into outbox (topic, shard, payload)
  select topic, shard, substring($3::bytea from start for length)
    from unnest($1::text[], $2::smallint[], $4::integer[], $5::integer[])
         with ordinality as event (topic, shard, start, length, position)
   order by position`;

const APPEND_ONE = `insert into outbox (topic, shard, payload) values ($1, $2, $3)`;
/** Up to here a plain statement for each costs less than taking arrays apart: half for a single event. */
const FEW_EVENTS = 3;

/**
 * Writes events into the outbox in the caller's transaction, in their order and one round trip. The
 * caller holds the row lock of each event's aggregate: only then is the order of `seq` the order of
 * commits per key.
 */
export async function appendToOutbox(
  executor: SqlExecutor,
  facts: readonly EventEnvelope[],
): Promise<void> {
  if (facts.length === 0) return;
  const events = withTrace(facts);
  if (events.length <= FEW_EVENTS) {
    await Promise.all(events.map((event) => appendOne(executor, event)));
  } else {
    await appendMany(executor, events);
  }
  executor.signal?.(OUTBOX_SIGNAL);
}

/** An event without a trace context gets that of the span around the call. */
function withTrace(events: readonly EventEnvelope[]): readonly EventEnvelope[] {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return events;
  return events.map((event) => (event.traceparent ? event : { ...event, traceparent }));
}

async function appendOne(executor: SqlExecutor, event: EventEnvelope): Promise<void> {
  const bytes = EventEnvelope.encode(event).finish();
  await executor.query(APPEND_ONE, [
    topicOf(event.type as Kind),
    partitionOf(event.partitionKey, OUTBOX_SHARDS),
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ]);
}

async function appendMany(executor: SqlExecutor, events: readonly EventEnvelope[]): Promise<void> {
  const { bytes, starts, lengths } = packBytes(
    events.map((event) => EventEnvelope.encode(event).finish()),
  );
  await executor.query(APPEND, [
    events.map(({ type }) => topicOf(type as Kind)),
    events.map(({ partitionKey }) => partitionOf(partitionKey, OUTBOX_SHARDS)),
    bytes,
    starts,
    lengths,
  ]);
}

/** What the relay reads; the rest of a message is in the envelope, so that the row need not repeat it. */
export interface StoredOutboxRow {
  seq: string | number;
  /** In the row, because an older relay does not know the topics of newer events. */
  topic: string;
  shard: number;
  payload: Buffer;
}

/** Bytes that are no envelope go on under a key of their own: the consumers park them, and nothing waits for them. */
export function toOutboxRow({ seq, topic, shard, payload }: StoredOutboxRow): OutboxRow {
  const place = { seq: Number(seq), shard };
  try {
    return { ...messageOf(EventEnvelope.decode(payload), topic, payload), ...place };
  } catch {
    const id = `undecodable-${shard}-${seq}`;
    return { id, topic, key: id, headers: {}, payload, ...place };
  }
}

/** The whole envelope is the payload; headers repeat what can be asked without decoding (CloudEvents names). */
export function toLogMessage(event: EventEnvelope): LogMessage {
  return messageOf(event, topicOf(event.type as Kind), EventEnvelope.encode(event).finish());
}

function messageOf(event: EventEnvelope, topic: string, payload: Uint8Array): LogMessage {
  return {
    id: event.id,
    topic,
    key: event.partitionKey,
    headers: {
      'content-type': 'application/protobuf',
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: event.type,
      ce_source: event.source,
      ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
    },
    payload,
  };
}

/**
 * The event, below the span that is at work on its record.
 * @throws InvalidError when the bytes are no envelope, which parks the key.
 */
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
  const { traceparent } = record.headers;
  return traceparent === undefined ? event : { ...event, traceparent };
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

/** Removes rows older than any possible redelivery, at most `limit`. @returns rows removed. */
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
