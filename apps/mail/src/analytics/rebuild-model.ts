import { ConflictError } from '@dak/kernel';
import type { Database, Transaction } from '@dak/platform/postgres';
import { lockModels, saveModels, selectJournal } from './model-store';
import { removeOthers } from './rebuild-store';
import { projectEntries } from './take-events';

export interface RebuildReport {
  readonly organizationId: string;
  /** Journal entries the model now includes. */
  readonly entries: number;
}

/** Entries per transaction. */
const CHUNK = 5_000;
const LOCK_SPACE = 'dak:analytics';

/**
 * Recomputes an organization's model from its journal, beside the current one, and swaps
 * it in, in one transaction. Events continue to be counted: later ones are caught up
 * with, the last of it while the organization's consumer waits.
 * @param onEntries called with the number of entries after each transaction
 * @throws ConflictError when another rebuild of this organization runs
 */
export async function rebuildModel(
  database: Database,
  organizationId: string,
  onEntries: (count: number) => void = () => undefined,
): Promise<RebuildReport> {
  return exclusively(database, organizationId, async () => {
    await removeOthers(database, organizationId);
    const generation = await nextGeneration(database, organizationId);
    const generations = new Map([[organizationId, generation]]);
    let position = 0;
    let entries = 0;
    const advance = async (tx: Transaction, after: number): Promise<number> => {
      const placed = await selectJournal(tx, organizationId, after, CHUNK);
      await projectEntries(tx, generations, placed);
      tx.afterCommit(() => {
        entries += placed.length;
        onEntries(placed.length);
      });
      return placed.at(-1)?.position ?? after;
    };
    for (;;) {
      const reached = await database.asWorker((tx) => advance(tx, position));
      if (reached === position) break;
      position = reached;
    }
    await database.asWorker(async (tx) => {
      const [model] = await lockModels(tx, [organizationId]);
      let reached = position;
      for (;;) {
        const next = await advance(tx, reached);
        if (next === reached) break;
        reached = next;
      }
      await saveModels(tx, [{ ...model!, generation }]);
    });
    await removeOthers(database, organizationId);
    return { organizationId, entries };
  });
}

async function nextGeneration(database: Database, organizationId: string): Promise<number> {
  return database.asWorker(async (tx) => {
    const [model] = await lockModels(tx, [organizationId]);
    return model!.generation + 1;
  });
}

/** Holds a lock of the session, which goes with the process however it ends. */
async function exclusively<T>(
  database: Database,
  organizationId: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock(hashtext($1), hashtext($2)) as locked',
      [LOCK_SPACE, organizationId],
    );
    if (rows[0]?.locked !== true) {
      throw new ConflictError(
        `The analytics of ${organizationId} are being rebuilt already: wait for that to end.`,
        'rebuild_running',
      );
    }
    try {
      return await work();
    } finally {
      await client.query('select pg_advisory_unlock(hashtext($1), hashtext($2))', [
        LOCK_SPACE,
        organizationId,
      ]);
    }
  } finally {
    client.release();
  }
}
