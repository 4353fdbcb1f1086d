import { setTimeout as delay } from 'node:timers/promises';
import { PollingLoop } from '@dak/platform/lifecycle';
import type { ConsumerStore } from './consumer-store';
import {
  FencedError,
  type HandlingFailure,
  type LogRecord,
  type RecordHandler,
  type ReplayResult,
  type SubscribeOptions,
  type Subscription,
} from './log';
import { OwnedPartition } from './owned-partition';
import type { ParkedStore } from './parked-store';
import { handleBatch, type BatchRules } from './partition-batch';
import type { GroupStart, RecordSource } from './record-source';
import { replayParked } from './replay-parked';
import { Slots } from './slots';
import { tracedHandler } from './traced-handler';

export interface ConsumerMemberOptions extends SubscribeOptions {
  group: string;
  /** Unique among all groups and processes. */
  member: string;
  topics: readonly string[];
  handler: RecordHandler;
  store: ConsumerStore;
  source: RecordSource;
  parked: ParkedStore;
  leaseMs: number;
  pollMs: readonly [number, number];
  /** Calls the listener when the source has news; returns a function that ends the calls. */
  onNews: (listener: () => void) => () => void;
  /** Progress that is durable. */
  onCommitted?: (claims: readonly GroupStart[]) => void;
  /** Records that are safe in `parked_message`. */
  onParked?: (records: readonly LogRecord[], reason: string) => void;
  onError: (error: unknown) => void;
  onFailure: (failure: HandlingFailure) => void;
}

const FETCH_LIMIT = 500;
const COMMIT_EVERY_MS = 500;
const AFTER_FAILURE_MS = 250;
const DEFAULT_DRAIN_MS = 10_000;

/** One member of a consumer group: claims its share of the partitions and reads them. */
export class ConsumerMember implements Subscription {
  readonly group: string;
  readonly #options: ConsumerMemberOptions;
  readonly #rules: BatchRules;
  readonly #member: string;
  readonly #owned = new Map<string, OwnedPartition>();
  readonly #stopListening: () => void;
  #partitions = 0;
  #leaseUntil = 0;
  readonly #stop = new AbortController();
  /** Ends the heartbeats and commits, which go on while handlers drain. */
  readonly #drained = new AbortController();
  readonly #reading: PollingLoop;
  #idleMs: number;
  #flushing: Promise<void> | null = null;
  #loops: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | null = null;

  constructor(options: ConsumerMemberOptions) {
    this.#options = options;
    this.group = options.group;
    this.#member = options.member;
    this.#rules = {
      group: options.group,
      handler: tracedHandler(options.group, options.handler),
      maxBatch: options.maxBatch ?? 100,
      maxAttempts: options.maxAttempts ?? 5,
      slots: new Slots(options.concurrency ?? 16),
    };
    this.#idleMs = options.pollMs[0];
    this.#reading = new PollingLoop(() => this.#read(), options.onError);
    this.#stopListening = options.onNews(() => this.#reading.wake());
  }

  async start(): Promise<void> {
    const { store, source, topics, from } = this.#options;
    const starts = await source.starts(topics, from ?? 'earliest');
    this.#partitions = starts.length;
    await store.joinGroup(starts);
    await this.#beat();
    this.#reading.start();
    this.#loops = Promise.all([this.#heartbeats(), this.#commits()]);
  }

  assigned(): string[] {
    return [...this.#owned.keys()].sort();
  }

  replayParked(topic: string, key: string): Promise<ReplayResult> {
    const { parked, leaseMs } = this.#options;
    return replayParked(parked, this.#rules.handler, this.group, {
      ...{ topic, key, leaseMs },
      owner: this.#member,
    });
  }

  close(drainMs = DEFAULT_DRAIN_MS): Promise<void> {
    this.#closed ??= this.#leave(drainMs);
    return this.#closed;
  }

  /** Stop, drain, commit, only then give up: the other order would lose work that is done. */
  async #leave(drainMs: number): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    const stopped = this.#reading.stop();
    const held = [...this.#owned.values()];
    for (const partition of held) partition.drain();
    await Promise.race([
      Promise.all(held.map((partition) => partition.idle())),
      delay(drainMs, undefined, { ref: false }),
    ]);
    this.#drained.abort();
    await Promise.all([stopped, this.#loops]);
    await this.#flush().catch(this.#options.onError);
    this.#loseAll();
    try {
      await this.#options.store.release(held);
      await this.#options.store.leaveGroup(this.#member);
    } catch (error) {
      // The leases expire on their own.
      this.#options.onError(error);
    }
    await this.#options.source.close();
  }

  async #heartbeats(): Promise<void> {
    const every = this.#options.leaseMs / 3;
    let wait = every;
    while (await this.#stillMember(wait)) {
      try {
        await this.#beat();
        wait = every;
      } catch (error) {
        this.#options.onError(error);
        wait = every / 4;
      }
      if (performance.now() >= this.#leaseUntil) this.#loseAll();
    }
  }

  async #commits(): Promise<void> {
    while (await this.#stillMember(COMMIT_EVERY_MS)) {
      await this.#flush().catch(this.#options.onError);
    }
  }

  /** Waits; false at once when the member has drained. */
  async #stillMember(ms: number): Promise<boolean> {
    const { signal } = this.#drained;
    await delay(ms, undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }

  /** Renews owned partitions and moves towards an equal share for every living member. */
  async #beat(): Promise<void> {
    const { store, topics, leaseMs } = this.#options;
    const asked = performance.now();
    const members = await store.beat(this.#member, leaseMs);
    const still = await store.renew(this.#member, leaseMs);
    this.#leaseUntil = asked + leaseMs;
    const epochs = new Map(still.map(({ topic, part, epoch }) => [`${topic}/${part}`, epoch]));
    for (const [name, partition] of this.#owned) {
      if (epochs.get(name) !== partition.epoch) this.#lose(name);
    }
    // Given up here while the database was unavailable: if renewed forever, no member would read them.
    const forgotten = still.filter(({ topic, part }) => !this.#owned.has(`${topic}/${part}`));
    if (forgotten.length > 0) await store.release(forgotten);
    const share = shareOf(this.#partitions, members, this.#member);
    const staying = [...this.#owned.values()].filter((partition) => !partition.draining);
    if (staying.length > share) {
      for (const partition of staying.slice(share)) void this.#handOver(partition);
    } else if (staying.length < share && !this.#stop.signal.aborted) {
      const claimed = await store.claim(this.#member, topics, leaseMs, share - staying.length);
      for (const claim of claimed) {
        const partition = new OwnedPartition(claim);
        this.#owned.set(partition.name, partition);
      }
      if (claimed.length > 0) this.#reading.wake();
    }
  }

  async #handOver(partition: OwnedPartition): Promise<void> {
    partition.drain();
    await partition.idle();
    try {
      await this.#flush();
      await this.#options.store.release([partition]);
    } catch (error) {
      this.#options.onError(error);
    }
    if (this.#owned.get(partition.name) === partition) this.#lose(partition.name);
  }

  async #read(): Promise<number> {
    const [shortest, longest] = this.#options.pollMs;
    const found = await this.#readOnce();
    this.#idleMs = found ? shortest : Math.min(this.#idleMs * 2, longest);
    if (!found) return this.#idleMs;
    await this.#pause();
    return 0;
  }

  /** Unlike a sleep, not ended by news. */
  async #pause(): Promise<void> {
    const ms = this.#options.pauseMs?.() ?? 0;
    if (ms > 0) await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** Starts a batch on every partition that has records and none in hand; false when there was none. */
  async #readOnce(): Promise<boolean> {
    const ready = [...this.#owned.values()].filter((partition) => partition.ready);
    if (ready.length === 0 || performance.now() >= this.#leaseUntil) return false;
    const found = await this.#options.source.read(
      ready.map(({ topic, part, position, since }) => ({ topic, part, offset: position, since })),
      FETCH_LIMIT,
    );
    for (const partition of ready) {
      const news = found.get(partition.name);
      if (news === undefined || !partition.ready) continue;
      if (typeof news === 'number') partition.moveTo(news);
      else void this.#process(partition, news);
    }
    return found.size > 0;
  }

  async #process(partition: OwnedPartition, records: readonly LogRecord[]): Promise<void> {
    const { parked, onError, onFailure, onParked } = this.#options;
    partition.begin(records);
    try {
      await handleBatch(records, this.#rules, {
        signal: partition.signal,
        mayStart: () => !partition.draining && performance.now() < this.#leaseUntil,
        park: async (stuck, reason) => {
          await parked.park(partition, stuck, reason);
          onParked?.(stuck, reason);
        },
        appendParked: async (batch) => {
          const keys = await parked.append(partition, batch);
          const behind = batch.filter(({ key }) => keys.has(key));
          if (behind.length > 0) onParked?.(behind, 'an earlier record of the key is parked');
          return keys;
        },
        finished: (record) => partition.finish(record.offset),
        onError: (error) => {
          if (error instanceof FencedError) this.#lose(partition.name);
          onError(error);
        },
        onFailure: (failure) => {
          if (failure.error instanceof FencedError) this.#lose(partition.name);
          onFailure(failure);
        },
      });
      await this.#flush();
    } catch (error) {
      onError(error);
    } finally {
      if (!partition.complete && !partition.draining) await delay(AFTER_FAILURE_MS);
      partition.end();
      this.#reading.wake();
    }
  }

  /** Commits the progress of all partitions in one statement; callers during one share the next. */
  async #flush(): Promise<void> {
    while (this.#flushing !== null) await this.#flushing.catch(() => undefined);
    const dirty = [...this.#owned.values()].filter((partition) => partition.uncommitted);
    if (dirty.length === 0) return;
    this.#flushing = this.#commit(dirty);
    try {
      await this.#flushing;
    } finally {
      this.#flushing = null;
    }
  }

  async #commit(dirty: readonly OwnedPartition[]): Promise<void> {
    const claims = dirty.map(({ topic, part, epoch, done }) => ({
      topic,
      part,
      epoch,
      offset: done,
    }));
    const accepted = await this.#options.store.commit(claims);
    this.#options.onCommitted?.(
      claims.filter(({ topic, part }) => accepted.has(`${topic}/${part}`)),
    );
    dirty.forEach((partition, i) => {
      if (accepted.has(partition.name)) partition.committed(claims[i]!.offset);
      else if (this.#owned.get(partition.name) === partition) this.#lose(partition.name);
    });
  }

  #lose(name: string): void {
    this.#owned.get(name)?.giveUp();
    this.#owned.delete(name);
    this.#options.source.forget(name);
  }

  #loseAll(): void {
    for (const name of [...this.#owned.keys()]) this.#lose(name);
  }
}

/** Every member knows the sorted list, so that the shares add up without anybody dividing. */
export function shareOf(partitions: number, members: readonly string[], member: string): number {
  const rank = members.indexOf(member);
  if (rank < 0) return 0;
  const extra = rank < partitions % members.length ? 1 : 0;
  return Math.floor(partitions / members.length) + extra;
}
