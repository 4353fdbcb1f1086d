import type { Database } from '@dak/platform/postgres';
import { createRepeatingWorker, type RepeatingWorker } from '@dak/platform/lifecycle';
import { IDEMPOTENCY_HOURS } from './stored-answer';

const BATCH = 1_000;

/** Forgets answers that can no longer be asked for. @returns how many */
export function sweepIdempotency(database: Database): Promise<number> {
  return database.asWorker(async (tx) => {
    const { rowCount } = await tx.query(
      `delete from idempotency_record
        where ctid = any(array(
              select ctid from idempotency_record
               where created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}) limit ${BATCH}))`,
    );
    return rowCount;
  });
}

export function createIdempotencySweeper(
  deps: { database: Database; onError: (error: unknown) => void },
  everyMs = 600_000,
): RepeatingWorker {
  const round = async () => ({ more: (await sweepIdempotency(deps.database)) >= BATCH });
  return createRepeatingWorker('forget answers', round, everyMs, deps.onError);
}
