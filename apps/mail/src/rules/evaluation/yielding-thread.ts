import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Gives the calling thread the given niceness (0–19), so that a thread somebody waits for goes first where there are
 * not enough processors for both. Only Linux has priorities per thread; elsewhere all stays as it is.
 */
export function makeThreadYield(niceness: number): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
  } catch {
    // Slower neighbors are no reason to fail.
  }
}
