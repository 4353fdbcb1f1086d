import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLockFile } from './file-lock';

describe('the lock of a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-lock-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is held by one at a time, until it is released', () => {
    const path = join(folder, 'a');
    const first = tryLockFile(path)!;
    expect(tryLockFile(path)).toBeNull();
    first.release();
    const second = tryLockFile(path);
    expect(second).not.toBeNull();
    second!.release();
  });

  it('stays with a child that was given it, and goes with its death', async () => {
    const path = join(folder, 'b');
    const lock = tryLockFile(path)!;
    const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', lock.fd] });
    lock.release();
    expect(tryLockFile(path)).toBeNull();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const next = tryLockFile(path);
    expect(next).not.toBeNull();
    next!.release();
  });
});
