import { createRepeatingWorker, type RepeatingWorker } from '@dak/platform/lifecycle';
import { sweepInbox } from './outbox';
import type { OutboxSource } from './outbox-relay';

/** Longer than the log keeps events, because the inbox must know every event it can still deliver. */
const KEEP_DAYS = 15;
const BATCH = 10_000;
const DAY_MS = 86_400_000;

/** Forgets, once a day, the ids of events that cannot be delivered any more. */
export function createInboxSweeper(
  deps: { database: OutboxSource; onError: (error: unknown) => void },
  everyMs = DAY_MS,
): RepeatingWorker {
  const round = async () => {
    const removed = await deps.database.asWorker((tx) => sweepInbox(tx, KEEP_DAYS, BATCH));
    return { more: removed >= BATCH };
  };
  return createRepeatingWorker('forget inbox', round, everyMs, deps.onError);
}
