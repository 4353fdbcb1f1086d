import { AsyncResource } from 'node:async_hooks';

export interface GroupCommitOptions<T> {
  /** Most items of one flush. Default 500. */
  readonly maxItems?: number;
  /** Most octets of one flush; a larger single item goes alone. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Octets of one item. Default 0. */
  readonly size?: (item: T) => number;
  /** Flushes running at the same time. Default 1; two overlap waiting and make smaller groups. */
  readonly concurrency?: 1 | 2;
  /**
   * Milliseconds to wait for company after a flush of several items: those who were answered are
   * about to come back. A lone item never waits. Default 0.
   */
  readonly gatherMs?: number;
}

export interface GroupCommit<T, R> {
  /** Resolves with the item's result once its group is flushed; rejects with the group's error. */
  submit(item: T): Promise<R>;
  /** Items waiting, without those being flushed. */
  readonly waiting: number;
  /** Resolves when nothing waits and nothing is being flushed. Never rejects. */
  idle(): Promise<void>;
}

/** A flush works for many: it must not look like work of whoever happened to begin it, such as in its trace. */
const outside = new AsyncResource('GroupCommit');

interface Waiting<T, R> {
  readonly item: T;
  readonly bytes: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Puts what arrives while one flush runs into the next one, so that the cost of making things
 * durable is paid once per group instead of once per item. Nothing waits for company: an item that
 * finds no flush running goes at once, with what arrived in the same turn of the event loop.
 *
 * `flush` gets 1 to `maxItems` items in order of arrival and has to return one result per item. An
 * error rejects the items of that group alone.
 */
export function createGroupCommit<T, R>(
  flush: (items: T[]) => Promise<R[]>,
  options: GroupCommitOptions<T> = {},
): GroupCommit<T, R> {
  const { maxItems = 500, maxBytes = 16 * 1024 * 1024, size = () => 0, concurrency = 1 } = options;
  const { gatherMs = 0 } = options;
  let queue: Waiting<T, R>[] = [];
  let running = 0;
  let scheduled = false;
  let onIdle: (() => void)[] = [];

  const takeGroup = (): Waiting<T, R>[] => {
    let bytes = 0;
    let count = 0;
    for (const waiting of queue) {
      bytes += waiting.bytes;
      if (count === maxItems || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    if (count === queue.length) {
      const group = queue;
      queue = [];
      return group;
    }
    return queue.splice(0, count);
  };

  const run = async (group: Waiting<T, R>[]): Promise<void> => {
    try {
      const results = await flush(group.map(({ item }) => item));
      if (results.length !== group.length) {
        throw new Error(`flush gave ${results.length} results for ${group.length} items`);
      }
      group.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    running -= 1;
    schedule(group.length > 1 ? gatherMs : 0);
  };

  const startFlushes = () => {
    scheduled = false;
    while (running < concurrency && queue.length > 0) {
      running += 1;
      void outside.runInAsyncScope(run, null, takeGroup());
    }
    if (running > 0) return;
    const resolvers = onIdle;
    onIdle = [];
    for (const resolve of resolvers) resolve();
  };

  const schedule = (waitMs = 0) => {
    if (scheduled || running >= concurrency) return;
    scheduled = true;
    if (waitMs > 0) setTimeout(startFlushes, waitMs);
    else setImmediate(startFlushes);
  };

  return {
    submit(item) {
      return new Promise<R>((resolve, reject) => {
        queue.push({ item, bytes: size(item), resolve, reject });
        schedule();
      });
    },
    get waiting() {
      return queue.length;
    },
    idle() {
      if (running === 0 && queue.length === 0) return Promise.resolve();
      return new Promise((resolve) => onIdle.push(resolve));
    },
  };
}
