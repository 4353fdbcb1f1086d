import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RefusedError } from '@dak/kernel';
import { UNDER_WAY } from '@dak/platform/deployment';

/**
 * Makes the folder ready for work that must end or be repeated from its beginning: what earlier work of the same kind
 * left unfinished there is removed.
 * @throws RefusedError when the folder holds anything else
 */
export function beginIn(folder: string, options: { what: string; keep?: readonly string[] }): void {
  const { what, keep = [] } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = readdirSync(folder).filter((name) => !keep.includes(name));
  if (found.length > 0 && !isUnderWay(folder)) {
    throw new RefusedError(
      `${resolve(folder)} is not empty: ${what} needs an empty folder.`,
      'folder_not_empty',
    );
  }
  for (const name of found) {
    if (name !== UNDER_WAY) rmSync(join(folder, name), { recursive: true, force: true });
  }
  writeFileSync(join(folder, UNDER_WAY), `${what}\n`, { mode: 0o600, flush: true });
}

export function isUnderWay(folder: string): boolean {
  return existsSync(join(folder, UNDER_WAY));
}

/** Marks the folder as complete. Everything in it is durable by then. */
export function endIn(folder: string): void {
  flushFileSystem(folder);
  rmSync(join(folder, UNDER_WAY));
  flushFileSystem(folder);
}

/** One flush for thousands of files: Node.js could only ask for one each. */
export function flushFileSystem(folder: string): void {
  const args = process.platform === 'linux' ? ['-f', folder] : [];
  const { status, error, stderr } = spawnSync('sync', args, { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`${folder} could not be flushed to the disk: ${stderr || error?.message}`);
  }
}
