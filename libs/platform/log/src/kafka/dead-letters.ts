import { setTimeout as delay } from 'node:timers/promises';
import type { LogRecord } from '../log';
import type { KafkaPublisher } from './kafka-publisher';

/** Partitions of a dead-letter topic: few records, in no particular order. */
export const DEAD_LETTER_PARTITIONS = 1;

/** Between attempts. */
const WAITS_MS = [200, 1_000, 3_000];

export interface DeadLettersOptions {
  publisher: KafkaPublisher;
  group: string;
  physical: (topic: string) => string;
  /** Makes the topic if it does not exist. */
  ensure: (physicalTopic: string) => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Copies parked records to `<topic>.<group>.dlq` with the reason, for the tools that operators have.
 * The originals wait in PostgreSQL, from where they are replayed; a copy that fails several times is
 * reported only.
 */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #made = new Map<string, Promise<void>>();

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  copy(records: readonly LogRecord[], reason: string): void {
    this.#copyStubbornly(records, reason).catch(this.#options.onError);
  }

  /** A topic that has just been made may have no leader yet. */
  async #copyStubbornly(records: readonly LogRecord[], reason: string): Promise<void> {
    for (const waitMs of WAITS_MS) {
      try {
        return await this.#copy(records, reason);
      } catch (error) {
        this.#options.onError(error);
      }
      await delay(waitMs, undefined, { ref: false });
    }
    await this.#copy(records, reason);
  }

  async #copy(records: readonly LogRecord[], reason: string): Promise<void> {
    const { group, publisher, physical, ensure } = this.#options;
    const topic = deadLetterTopic(records[0]!.topic, group);
    let made = this.#made.get(topic);
    if (made === undefined) {
      made = ensure(physical(topic));
      this.#made.set(topic, made);
      made.catch(() => this.#made.delete(topic));
    }
    await made;
    await publisher.publish(
      records.map((record) => ({
        id: record.id,
        topic,
        key: record.key,
        payload: record.payload,
        headers: {
          ...record.headers,
          dak_error: reason.slice(0, 2_000),
          dak_group: group,
          dak_topic: record.topic,
          dak_partition: String(record.partition),
          dak_offset: String(record.offset),
          dak_published_at: new Date(record.publishedAt).toISOString(),
        },
      })),
    );
  }
}

export function deadLetterTopic(topic: string, group: string): string {
  return `${topic}.${group}.dlq`;
}
