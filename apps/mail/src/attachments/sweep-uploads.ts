import type { Database } from '@dak/platform/postgres';
import { deleteExpiredUploads } from './upload-store';

const SWEEP_EVERY_MS = 10 * 60 * 1000;
const BATCH = 1000;

export interface UploadSweeper {
  start(): void;
  stop(): Promise<void>;
}

/** Removes uploads after their day, unless a draft names them. Content is left to the blob store's own collection. */
export function createUploadSweeper(deps: {
  database: Database;
  onError: (error: unknown) => void;
}): UploadSweeper {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const sweep = async () => {
    try {
      const remove = () => deps.database.asWorker((tx) => deleteExpiredUploads(tx, BATCH));
      while ((await remove()) === BATCH);
    } catch (error) {
      deps.onError(error);
    }
  };
  return {
    start() {
      running = sweep();
      timer = setInterval(() => (running = running.then(sweep)), SWEEP_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
