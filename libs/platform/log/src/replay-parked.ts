import { ConflictError } from '@dak/kernel';
import type { RecordHandler, ReplayResult } from './log';
import type { ParkedStore } from './parked-store';

export interface ReplayRequest {
  topic: string;
  key: string;
  leaseMs: number;
  /** Holder of the lease. */
  owner: string;
}

/** Ids that are written down of one replay. */
const MOST_NOTED = 100_000;

/**
 * Hands the parked records of a key to the handler, one by one in order, and lets the key flow again
 * once none is left; records that arrive meanwhile are parked behind and replayed too.
 * @throws ConflictError when the key is not parked or another replay of it is running; else the error that the
 *   handler throws, with the failed record still parked.
 */
export async function replayParked(
  parked: ParkedStore,
  handler: RecordHandler,
  group: string,
  { topic, key, leaseMs, owner }: ReplayRequest,
): Promise<ReplayResult> {
  const replayMs = Math.max(leaseMs, 60_000);
  if (!(await parked.claimReplay(topic, key, replayMs, owner))) {
    throw notParked(topic, key);
  }
  const abort = new AbortController();
  const replayed: string[] = [];
  let renewedAt = performance.now();
  try {
    for (;;) {
      if (performance.now() - renewedAt > replayMs / 3) {
        if (!(await parked.renewReplay(topic, key, replayMs, owner))) throw notParked(topic, key);
        renewedAt = performance.now();
      }
      const record = await parked.oldest(topic, key);
      if (record === null) {
        if (await parked.unpark(topic, key, replayed)) {
          return { replayed: replayed.length, remaining: 0 };
        }
        continue;
      }
      await handler([record], { group, topic, key, attempt: 1, signal: abort.signal });
      await parked.remove(record);
      if (replayed.length < MOST_NOTED) replayed.push(record.id);
    }
  } catch (error) {
    await parked.endReplay(topic, key, owner).catch(() => undefined);
    throw error;
  }
}

function notParked(topic: string, key: string): ConflictError {
  return new ConflictError(
    `The key "${key}" of ${topic} is not parked, or is being replayed already; look at the parked keys again.`,
    'not_parked',
  );
}
