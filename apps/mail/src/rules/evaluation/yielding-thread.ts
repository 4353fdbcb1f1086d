import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Lowers the calling thread's priority below its process, so that urgent threads go first where there are
 * not enough processors for both. Only Linux has priorities per thread; elsewhere all stays as it is.
 */
export function makeThreadYield(niceness: number): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(19, getPriority(thread) + niceness));
  } catch {
    // Slower neighbors are no reason to fail.
  }
}
