import type { ForgetRequest } from './forget-events';

/** One event as the log sees it: opaque bytes with a key. Order holds per key. */
export interface LogMessage {
  /** The event id; consumers recognize repetitions by it. */
  id: string;
  topic: string;
  key: string;
  headers: Readonly<Record<string, string>>;
  payload: Uint8Array;
}

export interface LogRecord extends LogMessage {
  partition: number;
  offset: number;
  /** Milliseconds since the epoch. */
  publishedAt: number;
}

export interface BatchContext {
  group: string;
  topic: string;
  key: string;
  /** 1 for the first delivery of these records to this member. */
  attempt: number;
  /** Aborted when the member has to give up the partition: stop at the next safe point. */
  signal: AbortSignal;
}

/**
 * Gets consecutive records of one key, in order; different keys run in parallel. Delivery is at
 * least once. What it throws decides: kind `invalid` (cannot ever work) parks the key at once; kinds
 * `unavailable`, `deadline_exceeded` and `rate_limited` and lost connections are retried in place
 * until they pass; everything else is tried five times and then parks the key.
 */
export type RecordHandler = (records: readonly LogRecord[], context: BatchContext) => Promise<void>;

export interface SubscribeOptions {
  /** Where a new group starts. @default 'earliest' */
  from?: 'earliest' | 'latest';
  /** Keys handled at the same time, over all partitions of the member. @default 16 */
  concurrency?: number;
  /** Records in one call of the handler at most. @default 100 */
  maxBatch?: number;
  /** Deliveries of a record before its key is parked. @default 5 */
  maxAttempts?: number;
  /**
   * Milliseconds between two reads while there is news, asked before each: what comes meanwhile shares
   * the second. An event after silence is read at once. @default none
   */
  pauseMs?: () => number;
}

export interface Subscription {
  readonly group: string;
  /** `topic/partition` of what this member reads now. */
  assigned(): string[];
  /** Runs the parked records of a key in order through the handler; stops at the first that fails. */
  replayParked(topic: string, key: string): Promise<ReplayResult>;
  /** Stops reading, waits for running handlers, commits what finished, leaves. */
  close(drainMs?: number): Promise<void>;
}

export interface ReplayResult {
  replayed: number;
  /** Records still parked; 0 means that the key flows again. */
  remaining: number;
}

/** A handler threw. */
export interface HandlingFailure {
  group: string;
  topic: string;
  key: string;
  /** The first event that is concerned. */
  eventId: string;
  /** How many are. */
  events: number;
  error: unknown;
  /**
   * What happens now: `waits` for something that is away, as long as it takes; `repeated` some times;
   * `parked` until the key is replayed or dropped.
   */
  outcome: 'waits' | 'repeated' | 'parked';
}

export interface PartitionLag {
  topic: string;
  partition: number;
  records: number;
  /** Milliseconds since the first unread record was published; 0 when there is none. */
  oldestAgeMs: number;
}

export interface ParkedKey {
  group: string;
  topic: string;
  key: string;
  reason: string;
  /** Milliseconds since the epoch. */
  parkedAt: number;
  records: number;
}

export type SeekTarget =
  'earliest' | 'latest' | { partition: number; offset: number } | { time: number };

/**
 * The event backbone. Topics have a fixed number of partitions; a key always lies in the same one.
 * Two drivers do the same: PostgreSQL for one deployment without a broker, and Kafka.
 */
export interface Log {
  publish(messages: readonly LogMessage[]): Promise<void>;
  subscribe(
    group: string,
    topics: readonly string[],
    handler: RecordHandler,
    options?: SubscribeOptions,
  ): Promise<Subscription>;
  lag(group: string): Promise<PartitionLag[]>;
  /** Groups that this process is a member of. */
  groups(): string[];
  /** Events that each of these groups has not read, without their age, which costs more. */
  backlog(groups: readonly string[]): Promise<Map<string, number>>;
  /** How many keys each of these groups has parked. */
  countParked(groups: readonly string[]): Promise<Map<string, number>>;
  /** Moves a group; running members are fenced and go on from there. */
  seek(group: string, topic: string, target: SeekTarget): Promise<void>;
  parked(group: string): Promise<ParkedKey[]>;
  /** For the relay of a service's outbox. @param owner of its leases; made of the name of this process if absent */
  openRelay(source: string, owner?: string): RelayChannel;
  /** Deletes events from Dak's databases; brokers delete theirs by retention, see `docs/operating.md`. @returns events deleted */
  forget(request: ForgetRequest): Promise<number>;
  ping(): Promise<void>;
  /** Closes every subscription as {@link Subscription.close} does. */
  close(drainMs?: number): Promise<void>;
}

/** A row of an outbox; `seq` grows with every insert. */
export interface OutboxRow extends LogMessage {
  seq: number;
  shard: number;
}

/** How a relay owns shards and publishes under them; publications of a fenced owner are refused. */
export interface RelayChannel {
  /**
   * Takes free shards and keeps the owned ones for another lease. `uncertain` after a failure: it is
   * unknown whether the last publication happened, so that owned shards must be acquired again.
   */
  renew(uncertain: boolean): Promise<OwnedShard[]>;
  /** All or nothing, in the order of `rows`. @throws FencedError when a shard has passed to another owner. */
  publish(rows: readonly OutboxRow[]): Promise<void>;
  /** Frees the shards for others at once. */
  release(): Promise<void>;
}

export interface OwnedShard {
  shard: number;
  /** New since the last call; then `publishedSeqs` have to be deleted from the outbox before reading. */
  acquired: boolean;
  publishedSeqs: number[];
}

/** The owner acted under an old epoch: another one has taken over. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}
