import { closeSync, fdatasync, fsync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Flushes an open file, in libuv's pool. */
export const flushData = promisify(fdatasync);
const flushAll = promisify(fsync);

/** Makes a file's content, or a folder's names, durable; ignores files that are gone. */
async function flushIfThere(path: string, flush: (file: number) => Promise<void>): Promise<void> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return unlessMissing(error);
  }
  try {
    await flush(file);
  } finally {
    closeSync(file);
  }
}

export function flushFile(path: string): Promise<void> {
  return flushIfThere(path, flushData);
}

export function flushFolder(path: string): Promise<void> {
  return flushIfThere(path, flushAll);
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** For what may be gone: anything else is thrown again. */
export function unlessMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

export async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lanes = Array.from({ length: Math.min(width, items.length) }, async () => {
    while (next < items.length) await work(items[next++]!);
  });
  // Every lane ends before the first error is reported, so that nothing is written behind the caller.
  for (const lane of await Promise.allSettled(lanes)) {
    if (lane.status === 'rejected') throw lane.reason;
  }
}
