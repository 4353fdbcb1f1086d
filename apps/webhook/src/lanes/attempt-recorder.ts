import { setTimeout as delay } from 'node:timers/promises';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import type { Database } from '@dak/platform/postgres';
import { recordAttempts, saveHealth, type AttemptResult } from './attempt-store';

/** Results are together in one transaction for so long or up to so many. */
const GATHER_MS = 15;
const MOST_OF_A_TRANSACTION = 200;
const LONGEST_PAUSE_MS = 2_000;

export interface AttemptRecorder {
  /** Whether it was recorded; false when the lane has passed to another owner. Waits out an outage. */
  record(result: AttemptResult): Promise<boolean>;
  /** Results that are not in the database yet. */
  readonly waiting: number;
  /** From now on an outage is not waited out: what cannot be written is attempted again by another owner. */
  close(): Promise<void>;
}

export function createAttemptRecorder(deps: {
  database: Database;
  owner: string;
  onError: (error: unknown) => void;
}): AttemptRecorder {
  const { database, owner, onError } = deps;
  let isClosing = false;
  let waiting = 0;

  const write = async (results: AttemptResult[]): Promise<boolean[]> => {
    const dirty = [...new Set(results.map(({ lane }) => lane))].filter(
      (lane) => lane.isHealthDirty,
    );
    for (const lane of dirty) lane.isHealthDirty = false;
    try {
      // Endpoints before deliveries, as whoever disables one locks them.
      const answers = await database.batchAsWorker([
        ...(dirty.length === 0 ? [] : [saveHealth(owner, dirty)]),
        recordAttempts(owner, results),
      ]);
      const rows = answers.at(-1);
      const recorded = new Set(
        rows!.map((row) => `${String(row['endpoint_id'])}/${String(row['id'])}`),
      );
      return results.map(({ lane, deliveryId }) =>
        recorded.has(`${lane.endpointId}/${deliveryId}`),
      );
    } catch (error) {
      for (const lane of dirty) lane.isHealthDirty = true;
      throw error;
    }
  };

  const commits: GroupCommit<AttemptResult, boolean> = createGroupCommit(
    async (results: AttemptResult[]) => {
      for (let pause = 50; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        try {
          return await write(results);
        } catch (error) {
          onError(error);
          if (isClosing) return results.map(() => false);
          await delay(pause);
        }
      }
    },
    { maxItems: MOST_OF_A_TRANSACTION, gatherMs: GATHER_MS },
  );

  return {
    async record(result) {
      waiting += 1;
      try {
        return await commits.submit(result);
      } finally {
        waiting -= 1;
      }
    },
    get waiting() {
      return waiting;
    },
    async close() {
      isClosing = true;
      await commits.idle();
    },
  };
}
