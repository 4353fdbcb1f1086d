import { setTimeout as delay } from 'node:timers/promises';
import type { SqlExecutor } from '@dak/platform/postgres';
import { PollingLoop } from '@dak/platform/lifecycle';
import { FencedError, type RelayChannel } from './log';
import { OUTBOX_SIGNAL, toOutboxRow, type StoredOutboxRow } from './outbox';

/** The database of the service that owns the outbox; `Database` of platform/postgres is one. */
export interface OutboxSource {
  asWorker<T>(work: (tx: SqlExecutor) => Promise<T>): Promise<T>;
  /** @returns what ends it */
  onSignal?(name: string, listener: () => void): () => void;
}

export interface OutboxRelayOptions {
  source: OutboxSource;
  channel: RelayChannel;
  /** How long a shard stays ours without a word; renewed at a third of it. @default 10000 */
  leaseMs?: number;
  /** @default 1000 */
  maxBatch?: number;
  /** Shortest time between two batches: events committed meanwhile share the second. @default 40 */
  gapMs?: number;
  /** Interval between polls of an empty outbox: grows from the first to the second. @default [5, 250] */
  pollMs?: readonly [number, number];
  /** What went wrong and is being retried. */
  onError?: (error: unknown) => void;
}

const READ = `
  select seq, topic, shard, payload
    from outbox
   where shard = any($1::smallint[])
   order by seq
   limit $2`;
const DELETE = `delete from outbox where seq = any($1::bigint[])`;
/** Counting all of a long queue would take longer than the queue deserves; the oldest is the first by seq. */
const DEPTH = `
  select (select count(*) from (select 1 from outbox limit 10000) as waiting)::int as rows,
         coalesce((select extract(epoch from now() - created_at) * 1000 from outbox order by seq limit 1),
                  0)::float8 as oldest_ms`;

/**
 * Moves committed outbox rows to the log, in order per key: read, publish, delete. Several replicas
 * may run; each shard is moved by one of them, and a former owner is refused by its epoch.
 */
export class OutboxRelay {
  readonly #options: Required<Omit<OutboxRelayOptions, 'onError'>>;
  #shards: number[] = [];
  readonly #loop: PollingLoop;
  #idleMs: number;
  #renewAt = 0;
  #uncertain = true;
  #unlisten: (() => void) | undefined;

  constructor(options: OutboxRelayOptions) {
    this.#options = { leaseMs: 10_000, maxBatch: 1_000, gapMs: 40, pollMs: [5, 250], ...options };
    this.#idleMs = this.#options.pollMs[0];
    this.#loop = new PollingLoop(
      () => this.#turn(),
      (error) => {
        if (!(error instanceof FencedError)) options.onError?.(error);
      },
    );
  }

  start(): void {
    this.#unlisten ??= this.#options.source.onSignal?.(OUTBOX_SIGNAL, () => this.wake());
    this.#loop.start();
  }

  /** Looks at once instead of at the next poll; a source with signals does it after every commit that wrote to the outbox. */
  wake(): void {
    this.#loop.wake();
  }

  /** Finishes the batch in hand and frees the shards. */
  async stop(): Promise<void> {
    this.#unlisten?.();
    await this.#loop.stop();
    await this.#options.channel.release();
  }

  /** Rows waiting, counted up to 10 000, and the age of the oldest in milliseconds. */
  async depth(): Promise<{ rows: number; oldestAgeMs: number }> {
    return this.#options.source.asWorker(async (tx) => {
      const { rows } = await tx.query<{ rows: number; oldest_ms: number }>(DEPTH);
      return { rows: rows[0]!.rows, oldestAgeMs: rows[0]!.oldest_ms };
    });
  }

  async #turn(): Promise<number> {
    const [shortest, longest] = this.#options.pollMs;
    try {
      if (performance.now() >= this.#renewAt) await this.#renew();
      const moved = this.#shards.length === 0 ? 0 : await this.#moveBatch();
      this.#idleMs = moved > 0 ? shortest : Math.min(this.#idleMs * 2, longest);
      if (moved === this.#options.maxBatch) return 0;
      if (moved > 0 && !this.#loop.isStopping) await delay(this.#options.gapMs);
      return this.#idleMs;
    } catch (error) {
      // Whether a failed publication was committed is unknown: acquiring the shards again shows it.
      this.#renewAt = 0;
      this.#uncertain = true;
      throw error;
    }
  }

  async #renew(): Promise<void> {
    const { channel, leaseMs, source } = this.#options;
    const owned = await channel.renew(this.#uncertain);
    const published = owned.flatMap((shard) => (shard.acquired ? shard.publishedSeqs : []));
    if (published.length > 0) await source.asWorker((tx) => tx.query(DELETE, [published]));
    this.#uncertain = false;
    this.#shards = owned.map(({ shard }) => shard);
    this.#renewAt = performance.now() + leaseMs / 3;
  }

  async #moveBatch(): Promise<number> {
    const { source, channel, maxBatch } = this.#options;
    const rows = await source.asWorker(async (tx) => {
      const result = await tx.query<StoredOutboxRow>(READ, [this.#shards, maxBatch]);
      return result.rows.map(toOutboxRow);
    });
    if (rows.length === 0) return 0;
    await channel.publish(rows);
    await source.asWorker((tx) => tx.query(DELETE, [rows.map((row) => row.seq)]));
    return rows.length;
  }
}
