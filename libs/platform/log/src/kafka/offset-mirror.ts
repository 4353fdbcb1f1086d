import type { GroupStart } from '../record-source';
import type { KafkaConnection } from './kafka-connection';

export interface OffsetMirrorOptions {
  connection: KafkaConnection;
  /** The name of the group, and of a topic, at the brokers. */
  groupId: string;
  physical: (topic: string) => string;
  onError: (error: unknown) => void;
}

const EVERY_MS = 5_000;

/**
 * Copies the progress of a group to the brokers, where the tools of operators and scalers look. It is
 * for show: the group reads on from PostgreSQL. A generation of -1 commits to a group without members.
 */
export class OffsetMirror {
  readonly #options: OffsetMirrorOptions;
  readonly #news = new Map<string, GroupStart>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: OffsetMirrorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#copy(), EVERY_MS).unref();
  }

  note(claims: readonly GroupStart[]): void {
    for (const claim of claims) this.#news.set(`${claim.topic}/${claim.part}`, claim);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#copy();
  }

  async #copy(): Promise<void> {
    const { connection, groupId, physical, onError } = this.#options;
    const news = [...this.#news.values()];
    if (news.length === 0) return;
    this.#news.clear();
    try {
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
    } catch (error) {
      onError(error);
    }
  }
}
