import type { LogRecord } from './log';

export interface GroupStart {
  topic: string;
  part: number;
  offset: number;
}

export interface ReadPosition {
  topic: string;
  part: number;
  offset: number;
  /** No record at or after `offset` is older, in milliseconds since the epoch; prunes old days. */
  since: number;
}

/**
 * Where a member of a group reads. Only this differs between the drivers: who owns a partition, how
 * a group's positions and parked keys are rows in PostgreSQL for both.
 */
export interface RecordSource {
  /** Every partition of the topics, with the offset at which a new group starts. */
  starts(topics: readonly string[], from: 'earliest' | 'latest'): Promise<GroupStart[]>;
  /**
   * What lies at the positions now, by `topic/part`: up to `limit` records in order, or the offset
   * where reading goes on because nothing is left before it. Partitions without news are absent.
   */
  read(
    positions: readonly ReadPosition[],
    limit: number,
  ): Promise<Map<string, readonly LogRecord[] | number>>;
  /** The member gave up a partition, named `topic/part`. */
  forget(name: string): void;
  close(): Promise<void>;
}
