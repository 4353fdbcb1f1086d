import { setTimeout as delay } from 'node:timers/promises';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import type { Database } from '@dak/platform/postgres';
import { recordAttempts, saveHealth, type ResultRow } from './attempt-store';
import { toHealthRow } from './health-row';
import type { Lane } from './lane';

/** Results are gathered for one transaction this long, up to this many. */
const GATHER_MS = 15;
const MAX_RESULTS_AT_ONCE = 200;
const LONGEST_PAUSE_MS = 2_000;

export interface AttemptRecorder {
  /** @returns whether the result was recorded: not when the lane has passed to another owner. Waits out an outage. */
  record(lane: Lane, row: ResultRow): Promise<boolean>;
  /** Results that are not in the database yet. */
  readonly waiting: number;
  /** Waits out no further outage: the next owner makes attempts again whose results cannot be written. */
  close(): Promise<void>;
}

interface LaneResult {
  lane: Lane;
  row: ResultRow;
}

export function createAttemptRecorder(deps: {
  database: Database;
  owner: string;
  onError: (error: unknown) => void;
}): AttemptRecorder {
  const { database, owner, onError } = deps;
  let isClosing = false;
  let waiting = 0;

  const write = async (results: LaneResult[]): Promise<boolean[]> => {
    const unsaved = [...new Set(results.map(({ lane }) => lane))].flatMap((lane) => {
      const health = lane.takeUnsavedHealth();
      if (health === null) return [];
      const { endpointId: endpoint_id, epoch } = lane;
      return [{ lane, row: { endpoint_id, epoch, ...toHealthRow(health) } }];
    });
    try {
      // Endpoints before deliveries: the order in which disabling locks them.
      const answers = await database.batchAsWorker([
        ...(unsaved.length === 0
          ? []
          : [
              saveHealth(
                owner,
                unsaved.map(({ row }) => row),
              ),
            ]),
        recordAttempts(
          owner,
          results.map(({ row }) => row),
        ),
      ]);
      const rows = answers.at(-1);
      const recorded = new Set(
        rows!.map((row) => `${String(row['endpoint_id'])}/${String(row['id'])}`),
      );
      return results.map(({ row }) => recorded.has(`${row.endpoint_id}/${row.delivery_id}`));
    } catch (error) {
      for (const { lane } of unsaved) lane.keepHealthUnsaved();
      throw error;
    }
  };

  const commits: GroupCommit<LaneResult, boolean> = createGroupCommit(
    async (results: LaneResult[]) => {
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
    { maxItems: MAX_RESULTS_AT_ONCE, gatherMs: GATHER_MS },
  );

  return {
    async record(lane, row) {
      waiting += 1;
      try {
        return await commits.submit({ lane, row });
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
