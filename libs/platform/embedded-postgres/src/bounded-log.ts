import { copyFileSync, statSync, truncateSync } from 'node:fs';

const LOOK_EVERY_MS = 60_000;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Bounds the log of a running server: a larger file becomes `<path>.1` and the log begins
 * again. The server goes on with the file that it has open, which it only appends to.
 * @returns what ends it
 */
export function boundLog(
  path: string,
  mostBytes = MOST_BYTES,
  everyMs = LOOK_EVERY_MS,
): () => void {
  const look = (): void => {
    try {
      if (statSync(path).size <= mostBytes) return;
      copyFileSync(path, `${path}.1`);
    } catch {
      // The disk may be full; dropping log lines is better than filling it further.
    }
    truncateIfThere(path, mostBytes);
  };
  look();
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

function truncateIfThere(path: string, mostBytes: number): void {
  try {
    if (statSync(path).size > mostBytes) truncateSync(path);
  } catch {
    // It was removed by hand.
  }
}
