import { closeSync, fdatasync, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';

/** Of an open file, in libuv's pool. */
export const flushData = promisify(fdatasync);
const flushAll = promisify(fsync);

/** Makes the content of a file durable, unless it is gone. */
export async function flushFile(path: string): Promise<void> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  try {
    await flushData(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the names in a folder durable. */
export async function flushFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r');
  try {
    await flushAll(folder);
  } finally {
    closeSync(folder);
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
