import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const STOP_WAIT_MS = 20_000;

type Ending = () => Promise<void> | void;

/** Root of the checkout. */
export const CHECKOUT = join(__dirname, '..');

/** What one bench run has made on this machine, so that all of it goes away again, whatever happens. */
export class BenchRun {
  /** Traversable by other users: PostgreSQL and Postfix run as their own. */
  readonly folder = mkdtempSync(join(tmpdir(), 'dak-bench-'));
  private readonly endings: Ending[] = [];
  private folders = 0;

  constructor() {
    chmodSync(this.folder, 0o755);
  }

  /** Progress, apart from the table on standard output. */
  say(sentence: string): void {
    process.stderr.write(`${sentence}\n`);
  }

  newFolder(name: string): string {
    this.folders += 1;
    const path = join(this.folder, `${this.folders}-${name}`);
    mkdirSync(path, { mode: 0o755 });
    return path;
  }

  /** Runs at the end, latest first; the returned function runs it now instead. */
  atEnd(ending: Ending): () => Promise<void> {
    let isDone = false;
    const once = async (): Promise<void> => {
      if (isDone) return;
      isDone = true;
      await ending();
    };
    this.endings.push(once);
    return once;
  }

  /** A child in a group of its own (Ctrl-C reaches us alone) whose output goes to `<folder>/<name>.log`. */
  start(
    name: string,
    command: string,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; cwd?: string; uid?: number; gid?: number },
  ): StartedProcess {
    const logFile = join(this.folder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    return { child, logFile, stop: this.atEnd(() => stopProcess(child)) };
  }

  async end(): Promise<void> {
    for (const ending of this.endings.splice(0).reverse()) {
      try {
        await ending();
      } catch (error) {
        this.say(`While cleaning up: ${String(error)}`);
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface StartedProcess {
  readonly child: ChildProcess;
  readonly logFile: string;
  /** SIGTERM, and SIGKILL for the whole group when that is not enough. */
  readonly stop: () => Promise<void>;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const waited = new AbortController();
  await Promise.race([
    exited,
    delay(STOP_WAIT_MS, null, { signal: waited.signal }).catch(() => null),
  ]);
  waited.abort();
  if (child.exitCode === null && child.signalCode === null) {
    process.kill(-child.pid, 'SIGKILL');
    await exited;
  }
}

/**
 * Asks until the answer is not null.
 * @throws Error naming `what` after `seconds`
 */
export async function waitFor<T>(
  what: string,
  seconds: number,
  ask: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) throw new Error(`${what} took longer than ${seconds} s.`);
    await delay(5);
  }
}
