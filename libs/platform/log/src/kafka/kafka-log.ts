import type { Pool } from 'pg';
import type { Admin } from 'kafkajs';
import { TOPICS } from '@dak/contracts/events';
import { InvalidError, UnavailableError } from '@dak/kernel';
import { ConsumerMember } from '../consumer-member';
import { ConsumerStore } from '../consumer-store';
import { forgetEvents, type ForgetRequest } from '../forget-events';
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
} from '../log';
import { freeFormerLeases, newOwner } from '../former-leases';
import { kafkaGroup } from '../parked-keys';
import { countParkedKeys, ParkedStore } from '../parked-store';
import { ReplayWatch } from '../replay-watch';
import { DEAD_LETTER_PARTITIONS, DeadLetters } from './dead-letters';
import { KafkaConnection, kafkaClient, type KafkaAddress } from './kafka-connection';
import { measureLag } from './kafka-lag';
import { KafkaPublisher } from './kafka-publisher';
import { KafkaRecordSource } from './kafka-record-source';
import { KafkaRelayChannel } from './kafka-relay-channel';
import { ensureTopics, type TopicSettings, type WantedTopic } from './kafka-topics';
import { OffsetMirror } from './offset-mirror';

export interface KafkaLogOptions extends KafkaAddress {
  /** On the log's own database, under its runtime role: claims, positions, parked keys, relay leases. */
  pool: Pool;
  /** Partitions by topic. @default the topics of the contracts */
  topics?: Readonly<Record<string, number>>;
  /** Before the names of topics and groups at the brokers, where several installations share them. @default '' */
  prefix?: string;
  /** Replicas of created topics. @default 3, or the number of brokers if lower */
  replicationFactor?: number;
  /** How long a silent member or relay keeps its leases. @default 10000 */
  leaseMs?: number;
  /**
   * Unique to this process and stable across its restarts: leases under it are released at the next start.
   * @default none: then leases of a killed process last until they expire
   */
  processName?: string;
  /** Days of events kept. @default 14 */
  keepDays?: number;
  /** What went wrong and is being retried. */
  onError?: (error: unknown) => void;
  /** A handler threw. @default `onError` is called with the error */
  onFailure?: (failure: HandlingFailure) => void;
  /**
   * A consumer can read no more: the process has to end with an error, so that whoever watches it
   * starts it again. Brokers that are away are waited for instead.
   */
  onDead: (error: Error) => void;
}

/** Between looks for records that were read ahead; news of them come at once. */
const POLL_MS = [50, 1_000] as const;

/**
 * The log in Kafka. The brokers keep the records; who owns a partition and how far a group is are the
 * same rows in PostgreSQL as without Kafka (docs/decisions/0009).
 */
export class KafkaLog implements Log {
  readonly #options: Required<
    Pick<
      KafkaLogOptions,
      'pool' | 'prefix' | 'leaseMs' | 'keepDays' | 'onError' | 'onFailure' | 'onDead'
    >
  >;
  readonly #address: KafkaAddress;
  readonly #topicSettings: TopicSettings;
  readonly #topics: ReadonlyMap<string, number>;
  readonly #connection: KafkaConnection;
  readonly #publisher: KafkaPublisher;
  readonly #processName: string | undefined;
  readonly #replays: ReplayWatch;
  readonly #members = new Set<Subscription>();
  readonly #physical = (topic: string): string => this.#options.prefix + topic;

  private constructor(
    { brokers, tls, caFile, credentials, ...options }: KafkaLogOptions,
    connection: KafkaConnection,
  ) {
    const ignore = (): void => undefined;
    const defaults = { prefix: '', leaseMs: 10_000, keepDays: 14, onError: ignore };
    const onFailure = ({ error }: HandlingFailure): void => this.#options.onError(error);
    this.#options = { ...defaults, onFailure, ...options };
    this.#processName = options.processName;
    this.#replays = new ReplayWatch({
      pool: options.pool,
      storedGroup: kafkaGroup,
      onError: this.#options.onError,
    });
    this.#address = {
      brokers,
      ...(tls === undefined ? {} : { tls }),
      ...(caFile === undefined ? {} : { caFile }),
      ...(credentials === undefined ? {} : { credentials }),
    };
    this.#topicSettings = {
      keepDays: this.#options.keepDays,
      ...(options.replicationFactor === undefined
        ? {}
        : { replicationFactor: options.replicationFactor }),
    };
    this.#topics = new Map(Object.entries(options.topics ?? TOPICS));
    this.#connection = connection;
    this.#publisher = new KafkaPublisher({
      address: this.#address,
      partitions: (topic) => this.#topics.get(topic) ?? DEAD_LETTER_PARTITIONS,
      physical: this.#physical,
    });
    // An idle connection that dies is replaced; without a listener it would end the process.
    options.pool.on('error', this.#options.onError);
  }

  /**
   * @throws UnavailableError when no broker answers.
   * @throws InvalidError when the brokers are too old or too new.
   * @throws ConflictError when a topic exists with another number of partitions.
   */
  static async open(options: KafkaLogOptions): Promise<KafkaLog> {
    const connection = await KafkaConnection.open(options);
    const log = new KafkaLog(options, connection);
    try {
      await freeFormerLeases(options.pool, options.processName);
      await log.#ensureTopics(
        [...log.#topics].map(([topic, partitions]) => ({
          name: log.#physical(topic),
          partitions,
        })),
      );
      await connection.setTopics([...log.#topics.keys()].map(log.#physical));
    } catch (error) {
      await log.close();
      throw error;
    }
    return log;
  }

  async publish(messages: readonly LogMessage[]): Promise<void> {
    if (messages.length === 0) return;
    for (const { topic } of messages) this.#requireTopic(topic);
    await this.#publisher.publish(messages);
  }

  async subscribe(
    group: string,
    topics: readonly string[],
    handler: RecordHandler,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    topics.forEach((topic) => this.#requireTopic(topic));
    const { pool, leaseMs, onError, onFailure, onDead, prefix } = this.#options;
    const connection = await KafkaConnection.open(this.#address);
    await connection.setTopics(topics.map(this.#physical));
    const mirror = new OffsetMirror({
      connection: this.#connection,
      groupId: prefix + group,
      physical: this.#physical,
      onError,
    });
    const deadLetters = new DeadLetters({
      publisher: this.#publisher,
      group,
      ensure: (name) => this.#ensureTopics([{ name, partitions: DEAD_LETTER_PARTITIONS }]),
      physical: this.#physical,
      onError,
    });
    let listener: () => void = () => undefined;
    const member = new ConsumerMember({
      ...options,
      member: newOwner(this.#processName),
      group,
      topics,
      handler,
      store: new ConsumerStore(pool, kafkaGroup(group)),
      source: new KafkaRecordSource({
        connection,
        physical: this.#physical,
        stallMs: 3 * leaseMs,
        onNews: () => listener(),
        onError,
        onDead,
      }),
      parked: new ParkedStore(pool, kafkaGroup(group)),
      leaseMs,
      pollMs: POLL_MS,
      onError,
      onFailure,
      onNews: (wake) => {
        listener = wake;
        return () => (listener = () => undefined);
      },
      onCommitted: (claims) => mirror.note(claims),
      onParked: (records, reason) => deadLetters.copy(records, reason),
    });
    try {
      await member.start();
    } catch (error) {
      await Promise.all([connection.close(), mirror.close()]);
      throw error;
    }
    const subscription: Subscription = {
      group,
      assigned: () => member.assigned(),
      replayParked: (topic, key) => member.replayParked(topic, key),
      close: async (drainMs) => {
        stopReplays();
        await member.close(drainMs);
        await mirror.close();
        this.#members.delete(subscription);
      },
    };
    const stopReplays = this.#replays.add(subscription);
    this.#members.add(subscription);
    return subscription;
  }

  async lag(group: string): Promise<PartitionLag[]> {
    const positions = await new ConsumerStore(this.#options.pool, kafkaGroup(group)).positions();
    return measureLag(this.#connection, positions, this.#physical);
  }

  groups(): string[] {
    return this.#replays.groups();
  }

  async backlog(groups: readonly string[]): Promise<Map<string, number>> {
    const { pool } = this.#options;
    const found = await Promise.all(
      groups.map((group) => new ConsumerStore(pool, kafkaGroup(group)).positions()),
    );
    const topics = new Set(found.flat().map(({ topic }) => this.#physical(topic)));
    const ends = await this.#connection.offsets([...topics], 'latest');
    return new Map(
      groups.map((group, i) => [
        group,
        found[i]!.reduce((sum, { topic, part, offset }) => {
          const end = ends.get(`${this.#physical(topic)}/${part}`) ?? offset;
          return sum + Math.max(0, end - offset);
        }, 0),
      ]),
    );
  }

  async countParked(groups: readonly string[]): Promise<Map<string, number>> {
    const stored = await countParkedKeys(this.#options.pool, groups.map(kafkaGroup));
    return new Map(groups.map((group) => [group, stored.get(kafkaGroup(group)) ?? 0]));
  }

  async seek(group: string, topic: string, target: SeekTarget): Promise<void> {
    const physical = this.#physical(this.#requireTopic(topic));
    const store = new ConsumerStore(this.#options.pool, kafkaGroup(group));
    const end = await this.#connection.offsets([physical], 'latest');
    const wanted =
      typeof target === 'object' && 'offset' in target
        ? new Map([[`${physical}/${target.partition}`, target.offset]])
        : await this.#connection.offsets([physical], target);
    await store.moveTo(
      [...wanted].map(([place, offset]) => ({
        topic,
        part: Number(place.slice(place.lastIndexOf('/') + 1)),
        offset: Math.min(offset, end.get(place) ?? offset),
      })),
    );
  }

  async parked(group: string): Promise<ParkedKey[]> {
    const keys = await new ParkedStore(this.#options.pool, kafkaGroup(group)).list();
    return keys.map((key) => ({ ...key, group }));
  }

  openRelay(source: string, owner = newOwner(this.#processName)): RelayChannel {
    return new KafkaRelayChannel({
      pool: this.#options.pool,
      source,
      owner,
      leaseMs: this.#options.leaseMs,
      publish: (messages) => this.publish(messages),
    });
  }

  /** Forgets parked events, and those of the PostgreSQL log from before Kafka was used. */
  forget(request: ForgetRequest): Promise<number> {
    return forgetEvents(this.#options.pool, request);
  }

  async ping(): Promise<void> {
    try {
      await Promise.all([this.#connection.ping(), this.#options.pool.query('select 1')]);
    } catch (cause) {
      throw new UnavailableError(
        'Kafka or the database of the event log does not answer.',
        1,
        cause,
      );
    }
  }

  async close(drainMs?: number): Promise<void> {
    this.#replays.close();
    await Promise.all([...this.#members].map((member) => member.close(drainMs)));
    await this.#publisher.close();
    await this.#connection.close();
    this.#options.pool.off('error', this.#options.onError);
  }

  #requireTopic(topic: string): string {
    if (this.#topics.has(topic)) return topic;
    throw new InvalidError(`There is no topic "${topic}"; add it to the topics of the log.`);
  }

  #ensureTopics(topics: readonly WantedTopic[]): Promise<void> {
    return withAdmin(this.#address, (admin) => ensureTopics(admin, topics, this.#topicSettings));
  }
}

async function withAdmin<T>(address: KafkaAddress, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaClient(address).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
