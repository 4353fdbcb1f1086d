import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel, type Broker, type Cluster, type SASLOptions } from 'kafkajs';
import { InvalidError, UnavailableError } from '@dak/kernel';
import { reasonOf, retryDelayMs } from '../failure';
import { quietRequestQueues } from './quiet-request-queue';
import { unspokenVersion } from './api-versions';

export interface KafkaAddress {
  /** `host:port` of some of the brokers. */
  brokers: readonly string[];
  /** @default false */
  tls?: boolean;
  /** PEM file of the authorities that may have signed the brokers' certificates. @default those of Node */
  caFile?: string;
  credentials?: {
    mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    username: string;
    password: string;
  };
}

/** A broker that is away must not hold up a caller for longer than this, in milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 15_000;
const ATTEMPTS = 6;
const RETRY = { retries: 4, initialRetryTime: 100, maxRetryTime: 1_000 };

export function kafkaClient({ brokers, tls = false, caFile, credentials }: KafkaAddress): Kafka {
  quietRequestQueues();
  return new Kafka({
    clientId: 'dak',
    brokers: [...brokers],
    ssl: tls && caFile !== undefined ? { ca: readFileSync(caFile) } : tls,
    ...(credentials === undefined ? {} : { sasl: credentials as SASLOptions }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    // What matters comes as an error to whoever asked.
    logLevel: logLevel.NOTHING,
  });
}

/**
 * Connections to the brokers of a cluster, below kafkajs's consumer: its group runner reads the next
 * records of a broker only after every partition of the last answer is handled, so that one slow key
 * would hold up all others.
 */
export class KafkaConnection {
  readonly #consumer: { connect(): Promise<void>; disconnect(): Promise<void> };
  readonly #cluster: Cluster;

  private constructor(address: KafkaAddress) {
    let cluster: Cluster | undefined;
    // An assigner is the documented way to the cluster; this consumer never joins a group.
    this.#consumer = kafkaClient(address).consumer({
      groupId: 'dak-unused',
      allowAutoTopicCreation: false,
      partitionAssigners: [
        (config) => {
          cluster = config.cluster;
          return {
            name: 'none',
            version: 0,
            assign: async () => [],
            protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
          };
        },
      ],
    });
    this.#cluster = cluster!;
  }

  /**
   * @throws UnavailableError when no broker answers.
   * @throws InvalidError when the brokers do not speak a version of the protocol that we speak.
   */
  static async open(address: KafkaAddress): Promise<KafkaConnection> {
    const connection = new KafkaConnection(address);
    try {
      await connection.#consumer.connect();
      await connection.#cluster.refreshMetadata();
      const [nodeId] = connection.#cluster.getNodeIds();
      const broker = await connection.#cluster.findBroker({ nodeId: String(nodeId) });
      const unspoken = unspokenVersion(await broker.apiVersions());
      if (unspoken !== null) throw new InvalidError(unspoken, 'kafka_version');
    } catch (cause) {
      await connection.close();
      if (cause instanceof InvalidError) throw cause;
      throw new UnavailableError(
        `No Kafka broker of ${address.brokers.join(', ')} answers (${reasonOf(cause)}).`,
        1,
        cause,
      );
    }
    return connection;
  }

  async setTopics(topics: readonly string[]): Promise<void> {
    await this.#cluster.addMultipleTargetTopics([...topics]);
  }

  /** Asks a broker, so that a connection that only looks open is found out. */
  async ping(): Promise<void> {
    await this.broker(this.#cluster.getNodeIds()[0]!).then((broker) => broker.metadata([]));
  }

  broker(nodeId: string | number): Promise<Broker> {
    // Typed as text, compared as the number that metadata gives.
    return this.#cluster.findBroker({ nodeId: nodeId as string });
  }

  groupCoordinator(groupId: string): Promise<Broker> {
    return this.#cluster.findGroupCoordinator({ groupId });
  }

  /** Undefined while a partition has no leader. */
  leaderOf(topic: string, partition: number): number | undefined {
    const metadata = this.#cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    return metadata === undefined || metadata.leader < 0 ? undefined : metadata.leader;
  }

  partitionCount(topic: string): number {
    return this.#cluster.findTopicPartitionMetadata(topic).length;
  }

  /**
   * Offsets by `topic/partition`: where the log begins or ends, or the first record at or after a time
   * (milliseconds since the epoch), which is the end when there is none.
   */
  async offsets(
    topics: readonly string[],
    at: 'earliest' | 'latest' | { time: number },
  ): Promise<Map<string, number>> {
    const found = await this.#again(() =>
      this.#cluster.fetchTopicsOffset(
        topics.map((topic) => ({
          topic,
          partitions: Array.from({ length: this.partitionCount(topic) }, (_, partition) => ({
            partition,
          })),
          ...(typeof at === 'string'
            ? { fromBeginning: at === 'earliest' }
            : { fromTimestamp: at.time }),
        })),
      ),
    );
    const offsets = new Map(
      found.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => [`${topic}/${partition}`, Number(offset)]),
      ),
    );
    if (![...offsets.values()].some((offset) => offset < 0)) return offsets;
    const ends = await this.offsets(topics, 'latest');
    return new Map(
      [...offsets].map(([name, offset]) => [name, offset < 0 ? ends.get(name)! : offset]),
    );
  }

  /** After an error: leaders may have moved, and a closed connection has to go. */
  async recover(error: unknown): Promise<void> {
    const { name, host, port } = error as { name?: string; host?: string; port?: number };
    if (name === 'KafkaJSConnectionClosedError' && host !== undefined && port !== undefined) {
      this.#cluster.removeBroker({ host, port });
    }
    await this.#cluster.refreshMetadata();
  }

  async close(): Promise<void> {
    await this.#consumer.disconnect().catch(() => undefined);
  }

  /** A few more times with fresh metadata: a topic may be new, a broker may just have restarted. */
  async #again<T>(request: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request();
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        await delay(retryDelayMs(attempt, Math.random()));
        await this.recover(error);
      }
    }
  }
}
