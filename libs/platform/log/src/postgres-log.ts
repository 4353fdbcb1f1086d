import type { Pool, PoolClient } from 'pg';
import { TOPICS } from '@dak/contracts/events';
import { ConflictError, UnavailableError } from '@dak/kernel';
import { appendRecords } from './append-records';
import { ConsumerMember } from './consumer-member';
import { ConsumerStore } from './consumer-store';
import { forgetEvents, type ForgetRequest } from './forget-events';
import type {
  HandlingFailure,
  Log,
  LogMessage,
  ParkedKey,
  PartitionLag,
  RecordHandler,
  RelayChannel,
  SeekTarget,
  SubscribeOptions,
  Subscription,
} from './log';
import { freeFormerLeases, newOwner } from './former-leases';
import { countParkedKeys, ParkedStore } from './parked-store';
import { PostgresRecordSource } from './postgres-record-source';
import { PostgresRelayChannel } from './postgres-relay-channel';
import { RecentRecords } from './recent-records';
import { ReplayWatch } from './replay-watch';
import { inTransaction } from './sql-transaction';

export interface PostgresLogOptions {
  /** On the log's own database, under its runtime role. */
  pool: Pool;
  /** Partitions by topic. @default the topics of the contracts */
  topics?: Readonly<Record<string, number>>;
  /** How long a silent member or relay keeps its leases. @default 10000 */
  leaseMs?: number;
  /**
   * Unique to this process and stable across its restarts: leases under it are released at the next start.
   * @default none: then leases of a killed process last until they expire
   */
  processName?: string;
  /** Interval between polls of a log without news: grows from the first to the second. @default [5, 250] */
  pollMs?: readonly [number, number];
  /** Days of events kept. @default 14 */
  keepDays?: number;
  /** What went wrong and is being retried. */
  onError?: (error: unknown) => void;
  /** A handler threw. @default `onError` is called with the error */
  onFailure?: (failure: HandlingFailure) => void;
}

const MAINTENANCE_EVERY_MS = 3_600_000;
const AHEAD_DAYS = 7;
const NO_PARTITION_FOR_ROW = '23514';

const MAKE_PARTITIONS = `
  insert into log_partition (topic, part)
  select topic, part
    from unnest($1::text[], $2::integer[]) as t (topic, partitions),
         generate_series(0, partitions - 1) as part
   where not exists (select 1 from log_partition p where p.topic = t.topic)
  on conflict do nothing`;

const COUNT_PARTITIONS = `
  select topic, count(*)::integer as partitions
    from log_partition
   where topic = any($1::text[])
   group by topic`;

const LAG = `
  select o.topic, o.part, greatest(p.next_off - o.off, 0)::float8 as records,
         coalesce(extract(epoch from clock_timestamp() - first.published_at) * 1000, 0)::float8 as age_ms
    from consumer_offset o
    join log_partition p using (topic, part)
    left join lateral (
           select e.published_at
             from event_log e
            where e.topic = o.topic and e.part = o.part and e.off >= o.off and p.next_off > o.off
            order by e.off
            limit 1) first on true
   where o.group_name = $1
   order by o.topic, o.part`;

const BACKLOG = `
  select o.group_name, sum(greatest(p.next_off - o.off, 0))::float8 as records
    from consumer_offset o
    join log_partition p using (topic, part)
   where o.group_name = any($1::text[])
   group by o.group_name`;

const SEEK = `
  update consumer_offset o
     set off = case $3
                 when 'latest'   then p.next_off
                 when 'offset'   then least($4::bigint, p.next_off)
                 when 'earliest' then coalesce((select min(e.off) from event_log e
                                                 where e.topic = o.topic and e.part = o.part), p.next_off)
                 when 'time'     then coalesce((select min(e.off) from event_log e
                                                 where e.topic = o.topic and e.part = o.part
                                                   and e.published_at >= to_timestamp($4::float8 / 1000)), p.next_off)
               end,
         owner = null, epoch = o.epoch + 1, lease_until = '-infinity'
    from log_partition p
   where o.group_name = $1 and o.topic = $2 and p.topic = o.topic and p.part = o.part
     and ($5::integer is null or o.part = $5)`;

/** The log in PostgreSQL, in a separate database (`libs/platform/log/migrations`). */
export class PostgresLog implements Log {
  readonly #pool: Pool;
  readonly #topics: ReadonlyMap<string, number>;
  readonly #leaseMs: number;
  readonly #pollMs: readonly [number, number];
  readonly #keepDays: number;
  readonly #onError: (error: unknown) => void;
  readonly #onFailure: (failure: HandlingFailure) => void;
  readonly #processName: string | undefined;
  readonly #replays: ReplayWatch;
  readonly #members = new Set<ConsumerMember>();
  readonly #recent = new RecentRecords();
  readonly #listeners = new Set<() => void>();
  #maintenance: NodeJS.Timeout | null = null;

  private constructor(options: PostgresLogOptions) {
    this.#pool = options.pool;
    this.#topics = new Map(Object.entries(options.topics ?? TOPICS));
    this.#leaseMs = options.leaseMs ?? 10_000;
    this.#pollMs = options.pollMs ?? [5, 250];
    this.#keepDays = options.keepDays ?? 14;
    this.#onError = options.onError ?? (() => undefined);
    this.#processName = options.processName;
    this.#onFailure = options.onFailure ?? (({ error }) => this.#onError(error));
    this.#replays = new ReplayWatch({
      pool: this.#pool,
      storedGroup: (group) => group,
      onError: this.#onError,
    });
    // An idle connection that dies is replaced; without a listener it would end the process.
    this.#pool.on('error', this.#onError);
  }

  /** @throws ConflictError when a topic exists with another number of partitions. */
  static async open(options: PostgresLogOptions): Promise<PostgresLog> {
    const log = new PostgresLog(options);
    await freeFormerLeases(options.pool, options.processName);
    await log.#makeTopics();
    await log.maintain();
    log.#maintenance = setInterval(() => {
      log.maintain().catch(log.#onError);
    }, MAINTENANCE_EVERY_MS).unref();
    return log;
  }

  async publish(messages: readonly LogMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await this.#transact((client) => appendRecords(client, this.#topics, messages));
    this.#announce();
  }

  async subscribe(
    group: string,
    topics: readonly string[],
    handler: RecordHandler,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    const member = new ConsumerMember({
      ...options,
      member: newOwner(this.#processName),
      group,
      topics,
      handler,
      store: new ConsumerStore(this.#pool, group),
      source: new PostgresRecordSource(this.#pool, this.#recent),
      parked: new ParkedStore(this.#pool, group),
      leaseMs: this.#leaseMs,
      pollMs: this.#pollMs,
      onError: this.#onError,
      onFailure: this.#onFailure,
      onNews: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    });
    await member.start();
    this.#members.add(member);
    this.#replays.add(member);
    return member;
  }

  async lag(group: string): Promise<PartitionLag[]> {
    const { rows } = await this.#pool.query<{
      topic: string;
      part: number;
      records: number;
      age_ms: number;
    }>(LAG, [group]);
    return rows.map(({ topic, part, records, age_ms }) => ({
      topic,
      partition: part,
      records,
      oldestAgeMs: Math.max(0, age_ms),
    }));
  }

  groups(): string[] {
    return this.#replays.groups();
  }

  async backlog(groups: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.#pool.query<{ group_name: string; records: number }>(BACKLOG, [
      groups,
    ]);
    return new Map(rows.map(({ group_name, records }) => [group_name, records]));
  }

  countParked(groups: readonly string[]): Promise<Map<string, number>> {
    return countParkedKeys(this.#pool, groups);
  }

  async seek(group: string, topic: string, target: SeekTarget): Promise<void> {
    const [kind, value, part] =
      typeof target === 'string'
        ? [target, null, null]
        : 'time' in target
          ? ['time', target.time, null]
          : ['offset', target.offset, target.partition];
    await this.#pool.query(SEEK, [group, topic, kind, value, part]);
  }

  parked(group: string): Promise<ParkedKey[]> {
    return new ParkedStore(this.#pool, group).list();
  }

  openRelay(source: string, owner = newOwner(this.#processName)): RelayChannel {
    return new PostgresRelayChannel({
      pool: this.#pool,
      topics: this.#topics,
      transact: (work) => this.#transact(work),
      source,
      owner,
      leaseMs: this.#leaseMs,
      onPublished: () => this.#announce(),
    });
  }

  forget(request: ForgetRequest): Promise<number> {
    return forgetEvents(this.#pool, request);
  }

  /** Creates partitions for the coming days and drops those past retention; runs every hour on its own. */
  async maintain(): Promise<void> {
    await this.#pool.query('select maintain_event_log($1, $2)', [this.#keepDays, AHEAD_DAYS]);
  }

  async ping(): Promise<void> {
    try {
      await this.#pool.query('select 1');
    } catch (cause) {
      throw new UnavailableError('The database of the event log does not answer.', 1, cause);
    }
  }

  async close(drainMs?: number): Promise<void> {
    if (this.#maintenance !== null) clearInterval(this.#maintenance);
    this.#replays.close();
    await Promise.all([...this.#members].map((member) => member.close(drainMs)));
    this.#members.clear();
  }

  async #makeTopics(): Promise<void> {
    const names = [...this.#topics.keys()];
    await this.#pool.query(MAKE_PARTITIONS, [names, [...this.#topics.values()]]);
    const { rows } = await this.#pool.query<{ topic: string; partitions: number }>(
      COUNT_PARTITIONS,
      [names],
    );
    for (const { topic, partitions } of rows) {
      if (partitions === this.#topics.get(topic)) continue;
      throw new ConflictError(
        `The topic ${topic} has ${partitions} partitions and cannot be given ${this.#topics.get(topic)}: order per key would break. Publish a new version of the topic instead.`,
        'partition_count',
      );
    }
  }

  /** A process that slept past the days made ahead makes them now. */
  async #transact<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(this.#pool, work);
    } catch (error) {
      if ((error as { code?: unknown }).code !== NO_PARTITION_FOR_ROW) throw error;
      await this.maintain();
      return inTransaction(this.#pool, work);
    }
  }

  /** Wakes consumers of this process at once; others find it at their next poll. */
  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}
