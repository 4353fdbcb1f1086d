import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import {
  embeddedBinaries,
  serverUrl,
  systemBinaries,
  unprivilegedUser,
} from '@dak/platform/embedded-postgres';
import { isAlive, startCluster } from '@dak/testing/database';

/** A separate durable PostgreSQL, to be killed while in use. */
export interface RestartablePostgres {
  readonly adminUrl: string;
  /** Stops without a checkpoint, as a crash would, and starts again, which replays the log. */
  restartImmediately(): Promise<void>;
  /** Stops as a crash would, and stays away until it is started. */
  stopImmediately(): Promise<void>;
  start(): Promise<void>;
  /** Ends all connections but the caller's. */
  cutConnections(): Promise<void>;
  stop(): Promise<void>;
}

const START_WAIT_MS = 30_000;

export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'dak-restartable-'));
  const binaries = systemBinaries() ?? embeddedBinaries();
  if (binaries === null) {
    throw new Error('No PostgreSQL binaries to crash: install postgresql.');
  }
  // As root, the server runs under another user, who needs access.
  chmodSync(folder, 0o711);
  const cluster = await startCluster(folder, binaries);
  const bin = cluster.details['bin']!;
  const home = join(folder, 'cluster');
  const { port, username, password } = new URL(cluster.details['adminUrl']!);
  // Reached as the embedded one is.
  const adminUrl = serverUrl({ user: username, password, folder: home, port: Number(port) });
  let pid = cluster.pid;

  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    process.kill(pid, signal);
    while (isAlive(pid)) await delay(20);
  };
  const start = async (): Promise<void> => {
    const log = openSync(join(folder, 'postgres.log'), 'a');
    const child = spawn(
      join(bin, 'postgres'),
      [
        ...['-D', join(home, 'data'), '-p', port, '-k', home],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
        ...['-c', 'shared_buffers=96MB'],
      ],
      {
        cwd: home,
        ...unprivilegedUser(),
        env: { PATH: process.env['PATH'], LC_ALL: 'C' },
        detached: true,
        stdio: ['ignore', log, log],
      },
    );
    closeSync(log);
    child.unref();
    pid = child.pid!;
    const deadline = Date.now() + START_WAIT_MS;
    while (!(await answers(adminUrl))) {
      if (Date.now() > deadline) throw new Error(`PostgreSQL in ${folder} did not start again.`);
      await delay(25);
    }
  };

  // The cluster of ordinary tests forgets commits in a crash; this one must not.
  await end('SIGINT');
  await start();
  return {
    adminUrl,
    restartImmediately: async () => {
      await end('SIGQUIT');
      await start();
    },
    stopImmediately: () => end('SIGQUIT'),
    start,
    cutConnections: async () => {
      const client = new Client({ connectionString: adminUrl });
      await client.connect();
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      await client.end();
    },
    stop: async () => {
      if (isAlive(pid)) await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
