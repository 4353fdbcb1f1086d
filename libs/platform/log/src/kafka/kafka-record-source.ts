import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import { UnavailableError } from '@dak/kernel';
import { reasonOf, retryDelayMs } from '../failure';
import type { LogRecord } from '../log';
import type { GroupStart, ReadPosition, RecordSource } from '../record-source';
import type { KafkaConnection } from './kafka-connection';
import { fromKafkaMessage } from './kafka-record';

export interface KafkaRecordSourceOptions {
  /** Not shared: a broker answers the requests of a connection one after another, and reads wait for news. */
  connection: KafkaConnection;
  /** The name of a topic at the brokers. */
  physical: (topic: string) => string;
  /** A request without an answer for so long means that this member is dead. */
  stallMs: number;
  onNews: () => void;
  /** What is being retried. */
  onError: (error: unknown) => void;
  /** What trying again cannot mend. */
  onDead: (error: Error) => void;
}

/** What was read ahead of a partition. */
interface Ahead {
  topic: string;
  part: number;
  name: string;
  /** Where the member reads next. */
  head: number;
  /** Where the next fetch starts. */
  next: number;
  records: LogRecord[];
  bytes: number;
}

interface FetchedPartition {
  partition: number;
  messages: readonly (KafkaMessage & { isControlRecord?: boolean })[];
}

/** How long a broker waits for news before it answers with none. */
const MAX_WAIT_MS = 250;
const MAX_FETCH_BYTES = 10 * 1024 * 1024;
const MAX_PARTITION_BYTES = 1024 * 1024;
/** A partition that is this far ahead is not fetched until its member catches up. */
const AHEAD_RECORDS = 1_000;
const AHEAD_BYTES = 4 * 1024 * 1024;
const CLOSE_WAIT_MS = 2_000;
const STALL_LOOKS = 4;
const FATAL = new Set([
  'UNSUPPORTED_VERSION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'KafkaJSNotImplemented',
  'KafkaJSSASLAuthenticationError',
]);

/**
 * Reads ahead from the leaders of the partitions that were asked for: one waiting request per broker
 * with all of them, so that news arrives at once and a slow key does not delay others.
 */
export class KafkaRecordSource implements RecordSource {
  readonly #options: KafkaRecordSourceOptions;
  readonly #ahead = new Map<string, Ahead>();
  /** Requests that wait for their answer, by the id of the broker. */
  readonly #asked = new Map<number, { looks: number; answered: Promise<void> }>();
  readonly #watchdog: NodeJS.Timeout;
  #recovering: Promise<void> | null = null;
  #failures = 0;
  #closed = false;

  constructor(options: KafkaRecordSourceOptions) {
    this.#options = options;
    this.#watchdog = setInterval(() => this.#watch(), options.stallMs / STALL_LOOKS).unref();
  }

  async starts(topics: readonly string[], from: 'earliest' | 'latest'): Promise<GroupStart[]> {
    const { connection, physical } = this.#options;
    const offsets = await connection.offsets(topics.map(physical), from);
    return topics.flatMap((topic) =>
      Array.from({ length: connection.partitionCount(physical(topic)) }, (_, part) => ({
        topic,
        part,
        offset: offsets.get(`${physical(topic)}/${part}`) ?? 0,
      })),
    );
  }

  async read(
    positions: readonly ReadPosition[],
    limit: number,
  ): Promise<Map<string, readonly LogRecord[] | number>> {
    const found = new Map<string, readonly LogRecord[] | number>();
    for (const { topic, part, offset } of positions) {
      const name = `${topic}/${part}`;
      const ahead = this.#ahead.get(name);
      if (ahead === undefined || ahead.head !== offset) {
        this.#ahead.set(name, {
          ...{ topic, part, name, head: offset, next: offset },
          ...{ records: [], bytes: 0 },
        });
      } else if (ahead.records.length > 0) {
        const records = ahead.records.splice(0, limit);
        for (const { payload } of records) ahead.bytes -= payload.byteLength;
        ahead.head = records.at(-1)!.offset + 1;
        found.set(name, records);
      } else if (ahead.next !== ahead.head) {
        ahead.head = ahead.next;
        found.set(name, ahead.next);
      }
    }
    this.#ask();
    return found;
  }

  forget(name: string): void {
    this.#ahead.delete(name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watchdog);
    // A request on its way would connect again behind the back of a connection that is closed.
    const answers = [...this.#asked.values()].map(({ answered }) => answered);
    await Promise.race([
      Promise.all([...answers, this.#recovering]),
      delay(CLOSE_WAIT_MS, undefined, { ref: false }),
    ]);
    await this.#options.connection.close();
  }

  /** Asks every broker that is not asked already for what its partitions need. */
  #ask(): void {
    if (this.#closed || this.#recovering !== null) return;
    const { connection, physical } = this.#options;
    const byLeader = new Map<number, Ahead[]>();
    for (const ahead of this.#ahead.values()) {
      if (ahead.records.length >= AHEAD_RECORDS || ahead.bytes >= AHEAD_BYTES) continue;
      const leader = connection.leaderOf(physical(ahead.topic), ahead.part);
      if (leader === undefined) {
        this.#recover(new Error(`${ahead.name} has no leader`));
        return;
      }
      const ofLeader = byLeader.get(leader);
      if (ofLeader === undefined) byLeader.set(leader, [ahead]);
      else ofLeader.push(ahead);
    }
    for (const [leader, wanted] of byLeader) {
      if (this.#asked.has(leader)) continue;
      const answered = this.#fetch(leader, wanted).finally(() => {
        this.#asked.delete(leader);
        this.#ask();
      });
      this.#asked.set(leader, { looks: 0, answered });
    }
  }

  async #fetch(leader: number, wanted: readonly Ahead[]): Promise<void> {
    const { connection, physical } = this.#options;
    const requested = new Map(wanted.map((ahead) => [ahead, ahead.next]));
    try {
      const broker = await connection.broker(leader);
      const answer = (await broker.fetch({
        maxWaitTime: MAX_WAIT_MS,
        minBytes: 1,
        maxBytes: MAX_FETCH_BYTES,
        // There are no transactions on these topics.
        isolationLevel: 0,
        topics: [...Map.groupBy(wanted, ({ topic }) => topic)].map(([topic, partitions]) => ({
          topic: physical(topic),
          partitions: partitions.map(({ part, next }) => ({
            partition: part,
            fetchOffset: String(next),
            maxBytes: MAX_PARTITION_BYTES,
          })),
        })),
      })) as {
        responses: readonly { topicName: string; partitions: readonly FetchedPartition[] }[];
      };
      this.#failures = 0;
      let news = false;
      for (const { topicName, partitions } of answer.responses) {
        for (const { partition, messages } of partitions) {
          const ahead = wanted.find(
            ({ topic, part }) => part === partition && physical(topic) === topicName,
          );
          if (ahead === undefined || messages.length === 0) continue;
          news = this.#take(ahead, requested.get(ahead)!, messages) || news;
        }
      }
      if (news) this.#options.onNews();
    } catch (error) {
      this.#recover(error);
    }
  }

  /** False when the member has meanwhile turned to another offset. */
  #take(ahead: Ahead, requested: number, messages: FetchedPartition['messages']): boolean {
    if (this.#ahead.get(ahead.name) !== ahead || ahead.next !== requested) return false;
    for (const message of messages) {
      const offset = Number(message.offset);
      // A batch is sent whole, also when the wanted record lies in its middle.
      if (offset < ahead.next) continue;
      ahead.next = offset + 1;
      if (message.isControlRecord === true) continue;
      const record = fromKafkaMessage(message, ahead.topic, ahead.part);
      ahead.records.push(record);
      ahead.bytes += record.payload.byteLength;
    }
    return true;
  }

  #recover(error: unknown): void {
    if (this.#recovering !== null || this.#closed) return;
    this.#recovering = this.#mend(error).finally(() => {
      this.#recovering = null;
      this.#ask();
    });
  }

  async #mend(error: unknown): Promise<void> {
    const { connection, onError } = this.#options;
    const { name, type } = error as { name?: string; type?: string };
    if (FATAL.has(type ?? '') || FATAL.has(name ?? '')) {
      this.#die(`Kafka cannot be read any more (${reasonOf(error)}).`, error);
      return;
    }
    onError(away(error));
    this.#failures += 1;
    await delay(Math.min(retryDelayMs(this.#failures, Math.random()), 2_000));
    if (this.#closed) return;
    try {
      await connection.recover(error);
      if (type === 'OFFSET_OUT_OF_RANGE') await this.#moveToWhatIsLeft();
    } catch (cause) {
      if (!this.#closed) onError(away(cause));
    }
  }

  /** Retention went past a member, or a topic was recreated: reading continues at the oldest record. */
  async #moveToWhatIsLeft(): Promise<void> {
    const { connection, physical } = this.#options;
    const topics = [...new Set([...this.#ahead.values()].map(({ topic }) => physical(topic)))];
    const first = await connection.offsets(topics, 'earliest');
    const end = await connection.offsets(topics, 'latest');
    for (const ahead of this.#ahead.values()) {
      const place = `${physical(ahead.topic)}/${ahead.part}`;
      const [low, high] = [first.get(place), end.get(place)];
      if (low === undefined || high === undefined) continue;
      if (ahead.next < low || ahead.next > high) ahead.next = low;
    }
    this.#options.onNews();
  }

  /** Looks are counted, not time: a process that was frozen itself has not been kept waiting. */
  #watch(): void {
    for (const asked of this.#asked.values()) {
      asked.looks += 1;
      if (asked.looks <= STALL_LOOKS) continue;
      this.#die(`Kafka has not answered a consumer for ${this.#options.stallMs / 1_000} s.`);
      return;
    }
  }

  #die(sentence: string, cause?: unknown): void {
    this.#closed = true;
    clearInterval(this.#watchdog);
    this.#options.onDead(new Error(sentence, { cause }));
  }
}

function away(error: unknown): UnavailableError {
  return new UnavailableError(`Kafka cannot be read just now (${reasonOf(error)}).`, 1, error);
}
