import { UnavailableError } from '@dak/kernel';
import { reasonOf } from '../failure';
import type { GroupStart } from '../record-source';
import type { KafkaConnection } from './kafka-connection';

export interface OffsetMirrorOptions {
  connection: KafkaConnection;
  /** The name of the group, and of a topic, at the brokers. */
  groupId: string;
  physical: (topic: string) => string;
  onError: (error: unknown) => void;
}

const AFTER_MS = 1_000;
const AFTER_FAILURE_MS = 5_000;

/**
 * Copies the progress of a group to the brokers, where the tools of operators and scalers look. It is
 * for show: the group reads on from PostgreSQL. A generation of -1 commits to a group without members.
 */
export class OffsetMirror {
  readonly #options: OffsetMirrorOptions;
  #news = new Map<string, GroupStart>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: OffsetMirrorOptions) {
    this.#options = options;
  }

  note(claims: readonly GroupStart[]): void {
    for (const claim of claims) this.#news.set(`${claim.topic}/${claim.part}`, claim);
    this.#copyIn(AFTER_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#copy();
  }

  #copyIn(ms: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#copy();
    }, ms).unref();
  }

  async #copy(): Promise<void> {
    const news = this.#news;
    if (news.size === 0) return;
    this.#news = new Map();
    try {
      await this.#commit([...news.values()]);
    } catch (error) {
      this.#options.onError(
        new UnavailableError(
          `Kafka did not take a copy of the progress (${reasonOf(error)}).`,
          1,
          error,
        ),
      );
      this.#news = new Map([...news, ...this.#news]);
      this.#copyIn(AFTER_FAILURE_MS);
    }
  }

  async #commit(news: readonly GroupStart[]): Promise<void> {
    const { connection, groupId, physical } = this.#options;
    const coordinator = await connection.groupCoordinator(groupId);
    await coordinator.offsetCommit({
      groupId,
      memberId: '',
      groupGenerationId: -1,
      topics: [...Map.groupBy(news, ({ topic }) => topic)].map(([topic, claims]) => ({
        topic: physical(topic),
        partitions: claims.map(({ part, offset }) => ({
          partition: part,
          offset: String(offset),
        })),
      })),
    });
  }
}
