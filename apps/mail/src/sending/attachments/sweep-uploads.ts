import { createRepeatingWorker, type RepeatingWorker } from '@dak/platform/lifecycle';
import type { Database } from '@dak/platform/postgres';
import { deleteExpiredUploads } from './upload-store';

const BATCH = 1_000;

/** Removes uploads after their day, unless a draft names them; retention removes content that nothing else refers to. */
export function createUploadSweeper(
  deps: { database: Database; onError: (error: unknown) => void },
  everyMs = 600_000,
): RepeatingWorker {
  const sweep = () => deps.database.asWorker((tx) => deleteExpiredUploads(tx, BATCH));
  const round = async () => ({ more: (await sweep()) >= BATCH });
  return createRepeatingWorker('remove uploads', round, everyMs, deps.onError);
}
