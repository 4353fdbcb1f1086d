import { createRepeatingWorker, type RepeatingWorker } from '@dak/platform/lifecycle';
import type { Database } from '@dak/platform/postgres';
import { sweepRuleRecords } from './rule-run-store';

const BATCH = 1_000;

/** Forgets old runs, answers and dry runs. */
export function createRuleSweeper(
  { database, onError }: { database: Database; onError: (error: unknown) => void },
  everyMs = 600_000,
): RepeatingWorker {
  const round = async () => ({
    more: (await database.asWorker((tx) => sweepRuleRecords(tx))) >= BATCH,
  });
  return createRepeatingWorker('forget rule runs', round, everyMs, onError);
}
