import { closeSync, fdatasync, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';

/** Of an open file, in libuv's pool. */
export const flushData = promisify(fdatasync);
const flushAll = promisify(fsync);

/** Makes the content of a file durable, or the names in a folder; what is gone needs it no more. */
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
