import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort, tryLockFile, type FileLock } from '@dak/platform/lifecycle';
import {
  embeddedBinaries,
  systemBinaries,
  unprivilegedUser,
  type OperatingSystemUser,
} from './binaries';
import { boundLog } from './bounded-log';
import { postgresHome, type PostgresHome } from './home';
import { fitsSocket, serverUrl } from './server-url';

const START_WAIT_MS = 60_000;
const STOP_WAIT_MS = 20_000;

export interface EmbeddedPostgres {
  /** The administrator's URL of the maintenance database. */
  adminUrl: string;
  /** A fast shutdown: transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
  /** Resolves when the server ends unexpectedly. */
  failed: Promise<Error>;
}

/**
 * A real PostgreSQL of our own with its data in `<dataDir>/postgres`, on a socket there and a free
 * loopback port, with a password kept beside the data. It goes with this process, even when that is killed: a shell
 * waits on a pipe and stops the server when the pipe closes.
 * @throws Error with one sentence when there are no binaries for this platform, or the server does
 *   not start (the reason is in its log)
 */
export async function startEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const binaries = embeddedBinaries() ?? systemBinaries();
  if (binaries === null) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}: install PostgreSQL 15 or newer, or set DAK_DATABASE_URL to one.`,
    );
  }
  const user = unprivilegedUser();
  const home = postgresHome(dataDir, binaries, user);
  const data = join(home.folder, 'data');
  await stopLeftOver(data);
  const lock = await lockServer(home.folder);
  const password = initialize(home, data, user);
  // Its pid may belong to another process by now, in a container soon; then the server would not start.
  rmSync(join(data, 'postmaster.pid'), { force: true });
  const port = await freePort();
  const logFile = join(home.folder, 'postgres.log');
  const log = openSync(logFile, 'a');
  const settings = binaries.origin === 'embedded' ? [...SETTINGS, ...SETTINGS_OF_18] : SETTINGS;
  const server = spawnServer(home, data, port, settings, { log, lock: lock.fd }, user);
  closeSync(log);
  lock.release();
  const adminUrl = serverUrl({ user: 'dak_admin', password, folder: home.folder, port });
  if (!(await answers(adminUrl, server))) {
    server.stdin?.end();
    const reason = readFileSync(logFile, 'utf8').slice(-1000);
    throw new Error(`The embedded PostgreSQL did not start: ${reason}`);
  }
  const endBounding = boundLog(logFile);
  let isStopping = false;
  const failed = new Promise<Error>((resolve) => {
    server.once('exit', (code, signalName) => {
      if (isStopping) return;
      resolve(new Error(`PostgreSQL ended by itself (${signalName ?? code}); see ${logFile}.`));
    });
  });
  return {
    adminUrl,
    failed,
    stop: () => {
      isStopping = true;
      endBounding();
      return stop(server);
    },
  };
}

/** The administrator's URL of the server that another process runs on this data folder; null when none does. */
export function runningEmbeddedPostgres(dataDir: string): string | null {
  const binaries = embeddedBinaries() ?? systemBinaries();
  if (binaries === null || !existsSync(dataDir)) return null;
  const { folder } = postgresHome(dataDir, binaries, unprivilegedUser());
  const pidFile = join(folder, 'data/postmaster.pid');
  if (!existsSync(pidFile)) return null;
  const [pid, data, , port] = readFileSync(pidFile, 'utf8').split('\n');
  if (data === undefined || !isPostgres(Number(pid), data)) return null;
  const password = readFileSync(join(folder, 'password'), 'utf8').trim();
  return serverUrl({ user: 'dak_admin', password, folder, port: Number(port) });
}

/** Creates the cluster once; an incomplete one (no password file yet) is recreated. */
function initialize(home: PostgresHome, data: string, user: OperatingSystemUser | null): string {
  const passwordFile = join(home.folder, 'password');
  if (existsSync(passwordFile) && existsSync(join(data, 'PG_VERSION'))) {
    return readFileSync(passwordFile, 'utf8').trim();
  }
  rmSync(data, { recursive: true, force: true });
  const password = randomBytes(24).toString('base64url');
  const incoming = `${passwordFile}.new`;
  writeFileSync(incoming, password, { mode: 0o600 });
  if (user !== null) chownSync(incoming, user.uid, user.gid);
  const made = spawnSync(
    join(home.bin, 'initdb'),
    [
      ...['-D', data, '-U', 'dak_admin', '-A', 'scram-sha-256', `--pwfile=${incoming}`],
      ...['-E', 'UTF8', `--locale=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`],
    ],
    { ...identity(home, user), encoding: 'utf8' },
  );
  if (made.status !== 0) {
    throw new Error(
      `The embedded PostgreSQL could not make its data folder: ${made.stderr || String(made.error)}`,
    );
  }
  writeFileSync(passwordFile, password, { mode: 0o600 });
  rmSync(incoming);
  return password;
}

function identity(
  home: PostgresHome,
  user: OperatingSystemUser | null,
): { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number } {
  return { cwd: home.folder, ...user, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
}

/** Sized for one machine that runs everything: small buffers, durable commits, no parallel workers. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'max_connections=60',
  'shared_buffers=48MB',
  'work_mem=8MB',
  'max_wal_size=512MB',
  'wal_compression=on',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'random_page_cost=1.1',
  'log_min_messages=warning',
  'max_logical_replication_workers=0',
];

/** No processes of their own for reading ahead, each of which takes memory. */
const SETTINGS_OF_18 = ['io_method=sync'];

/**
 * Stops the server once the pipe closes (we are gone). A background command of `sh` has no stdin, hence
 * descriptor 3; 4 is the lock of the cluster, which the server's processes alone keep.
 */
const GUARD = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & server=$!',
  '(read _ <&3; kill -INT $server) 4<&- & exec 3<&- 4<&-',
  'wait $server',
].join('\n');

function spawnServer(
  home: PostgresHome,
  data: string,
  port: number,
  settings: readonly string[],
  files: { log: number; lock: number },
  user: OperatingSystemUser | null,
): ChildProcess {
  const sockets = fitsSocket(home.folder) ? home.folder : '';
  const command = [join(home.bin, 'postgres'), '-D', data, '-p', String(port), '-k', sockets];
  const options = settings.flatMap((setting) => ['-c', setting]);
  // A separate process group, so that Ctrl-C reaches only this process and the server stops after its clients.
  return spawn('/bin/sh', ['-c', GUARD, 'dak-postgres', ...command, ...options], {
    ...identity(home, user),
    detached: true,
    stdio: ['pipe', files.log, files.log, 'ignore', files.lock],
  });
}

/**
 * The server's processes hold this lock, which shows whether one of them is left, even where their pids are not
 * to be seen: in another container on the same volume, after a crash of Dak there.
 * @throws Error when they do not end
 */
async function lockServer(folder: string): Promise<FileLock> {
  const deadline = Date.now() + STOP_WAIT_MS;
  for (;;) {
    const lock = tryLockFile(join(folder, 'server.lock'));
    if (lock !== null) return lock;
    if (Date.now() > deadline) {
      throw new Error(`A PostgreSQL that was left behind still works in ${folder}: end it first.`);
    }
    await delay(50);
  }
}

/** A server that outlived its guard still holds the data folder: it is stopped before the next one starts. */
async function stopLeftOver(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostgres(pid, data)) return;
  signal(pid, 'SIGINT');
  const deadline = Date.now() + STOP_WAIT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) signal(pid, 'SIGQUIT');
    await delay(25);
  }
}

/** After a reboot the pid may belong to another program. */
function isPostgres(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
  } catch {
    const listed = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return (listed.stdout ?? '').includes(data);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function answers(url: string, server: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_WAIT_MS;
  while (Date.now() < deadline && server.exitCode === null) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      return true;
    } catch {
      await delay(15);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin?.end();
  await Promise.race([ended, delay(STOP_WAIT_MS, undefined, { ref: false })]);
}
