import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A server process that all test runs of one checkout share while at least one of them lives. */
export interface RunServer {
  /** The process whose death means that the server is gone. */
  pid: number;
  /** What stops it at once but cleanly; null when it ends with the process that started it. */
  stopSignal: 'INT' | 'TERM' | null;
  /** How to reach it. */
  details: Record<string, string>;
}

const PROJECT_ROOT = resolve(__dirname, '../../../..');
const LOCK_WAIT_MS = 60_000;
const STOP_WAIT_MS = 10_000;

/** One folder per operating-system user and checkout, so that two clones never share a server. */
function rootFolder(): string {
  const user = process.getuid?.() ?? 0;
  const key = createHash('sha256').update(PROJECT_ROOT).digest('hex').slice(0, 12);
  return join(tmpdir(), `dak-test-${user}-${key}`);
}

/** The process that stands for this test run; set by the global setup and inherited by the workers. */
function runPid(): number {
  return Number(process.env['DAK_TEST_RUN_PID'] ?? process.pid);
}

/**
 * Registers this run as a user of the server `name` and starts the server if it is not running. It stops
 * when the last registered run leaves or dies; a small reaper process sees to the second case.
 *
 * @param start gets an empty folder that is deleted after the server has stopped.
 */
export async function joinRunServer(
  name: string,
  start: (folder: string) => Promise<RunServer>,
): Promise<RunServer> {
  const folder = join(rootFolder(), name);
  mkdirSync(rootFolder(), { recursive: true, mode: 0o711 });
  return withLock(`${folder}.lock`, async () => {
    const running = readServer(folder);
    if (running !== null) {
      writeFileSync(join(folder, 'users', String(runPid())), '');
      return running;
    }
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'users'), { recursive: true, mode: 0o711 });
    const server = await start(folder);
    writeFileSync(join(folder, 'users', String(runPid())), '');
    writeFileSync(join(folder, 'server.json'), JSON.stringify(server), { mode: 0o600 });
    startReaper(folder, server);
    return server;
  });
}

/** Unregisters this run everywhere and stops servers that have no other user. */
export async function leaveRunServers(): Promise<void> {
  const root = rootFolder();
  if (!existsSync(root)) return;
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, entry.name);
    await withLock(`${folder}.lock`, async () => {
      rmSync(join(folder, 'users', String(runPid())), { force: true });
      const server = readServer(folder);
      if (server !== null && usersOf(folder).some(isAlive)) return;
      if (server !== null) await stop(server);
      rmSync(folder, { recursive: true, force: true });
    });
  }
}

function readServer(folder: string): RunServer | null {
  const file = join(folder, 'server.json');
  if (!existsSync(file)) return null;
  const server = JSON.parse(readFileSync(file, 'utf8')) as RunServer;
  return isAlive(server.pid) ? server : null;
}

function usersOf(folder: string): number[] {
  const users = join(folder, 'users');
  return existsSync(users) ? readdirSync(users).map(Number) : [];
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function stop(server: RunServer): Promise<void> {
  if (server.stopSignal === null) return;
  process.kill(server.pid, `SIG${server.stopSignal}`);
  const deadline = Date.now() + STOP_WAIT_MS;
  while (isAlive(server.pid)) {
    if (Date.now() > deadline) process.kill(server.pid, 'SIGKILL');
    await delay(20);
  }
}

/** The lock is a symbolic link whose target is the owner's pid: made and named in one atomic step. */
async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      symlinkSync(String(process.pid), lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    breakStaleLock(lock);
    if (Date.now() > deadline) {
      throw new Error(`The lock ${lock} was held for a minute; delete it if no test is running.`);
    }
    await delay(15 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    unlinkSync(lock);
  }
}

function breakStaleLock(lock: string): void {
  try {
    const owner = Number(readlinkSync(lock));
    if (isAlive(owner)) return;
    const taken = `${lock}.${process.pid}`;
    renameSync(lock, taken);
    // Another process may have broken and retaken it in between; then it is given back.
    if (Number(readlinkSync(taken)) === owner) unlinkSync(taken);
    else renameSync(taken, lock);
  } catch {
    // Released or broken by another run meanwhile: the caller tries again.
  }
}

/**
 * A shell loop rather than a Node process: it costs 1 MB instead of 40. It exits on its own once the
 * server is gone or replaced.
 */
const REAPER = `
folder=$1 server=$2 signal=$3 lock=$1.lock
used() { for user in "$folder"/users/*; do kill -0 "\${user##*/}" 2>/dev/null && return 0; done; return 1; }
while kill -0 "$server" 2>/dev/null; do
  if ! used && ln -s "$$" "$lock" 2>/dev/null; then
    if ! used; then
      if [ "$signal" != none ]; then
        kill "-$signal" "$server" 2>/dev/null
        tries=0
        while kill -0 "$server" 2>/dev/null; do
          tries=$((tries + 1)); [ $tries -gt 50 ] && kill -KILL "$server" 2>/dev/null
          sleep 0.2
        done
      fi
      rm -rf "$folder"
      rm -f "$lock"
      exit 0
    fi
    rm -f "$lock"
  fi
  sleep 1
done
`;

function startReaper(folder: string, server: RunServer): void {
  spawn(
    '/bin/sh',
    ['-c', REAPER, 'dak-test-reaper', folder, String(server.pid), server.stopSignal ?? 'none'],
    { detached: true, stdio: 'ignore', cwd: '/' },
  ).unref();
}
