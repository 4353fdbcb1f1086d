import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

export interface FileLock {
  /** Open on the file; a child process that is given it holds the lock as well. */
  fd: number;
  release(): void;
}

/** BSD's flags of open(2), which Node.js passes on as they are. */
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;
const HELD_BY_ANOTHER = 1;

/**
 * Takes the lock of a file, flock(2), and makes the file if it is absent; null when another process
 * holds it, also one in another container on the same volume. The system releases it with the last
 * process that has the descriptor, however that one ends. The file stays: whoever removes it would let
 * two processes hold locks of two files under one name.
 * @throws Error with one sentence where the system has no such lock
 */
export function tryLockFile(path: string): FileLock | null {
  const fd = process.platform === 'linux' ? lockByChild(path) : lockByOpening(path);
  return fd === null ? null : { fd, release: () => closeSync(fd) };
}

/**
 * Node.js has no flock(2). A lock belongs to the open file, which a child shares: `flock` of util-linux
 * takes it on our descriptor and ends, and the lock stays with us.
 */
function lockByChild(path: string): number | null {
  const fd = openSync(path, 'a+', 0o600);
  // Options that BusyBox knows as well: it answers others as it does a lock that another holds.
  const { status, error, stderr } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  });
  if (status === 0) return fd;
  closeSync(fd);
  if (status === HELD_BY_ANOTHER) return null;
  throw new Error(
    `${path} cannot be locked with the command flock of util-linux, which has to be installed: ${stderr?.trim() || error?.message}`,
  );
}

function lockByOpening(path: string): number | null {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT | O_EXLOCK | O_NONBLOCK, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
    throw error;
  }
}
