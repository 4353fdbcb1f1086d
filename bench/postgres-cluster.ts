import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { serverUrl } from '@dak/platform/embedded-postgres';
import { freePort } from '@dak/platform/lifecycle';
import { waitFor, type BenchRun } from './bench-run';

const DEBIAN_ROOT = '/usr/lib/postgresql';

export interface PostgresCluster {
  /** Administrator's URL of the maintenance database. */
  readonly adminUrl: string;
  readonly logFile: string;
  stop(): Promise<void>;
}

/** The newest PostgreSQL of Debian's packages. @throws Error when there is none */
export function debianPostgres(): string {
  const versions = existsSync(DEBIAN_ROOT) ? readdirSync(DEBIAN_ROOT) : [];
  const newest = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_ROOT, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (newest === undefined) {
    throw new Error(
      "The bench needs PostgreSQL from Debian's packages: apt-get install postgresql.",
    );
  }
  return newest;
}

/** A cluster of its own with default settings: fsync, synchronous commits and full-page writes on. */
export async function startCluster(run: BenchRun, name: string): Promise<PostgresCluster> {
  const bin = debianPostgres();
  const home = run.newFolder(`${name}-postgres`);
  const user = process.getuid?.() === 0 ? userIds('postgres') : null;
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password);
  if (user !== null) for (const path of [home, passwordFile]) chownSync(path, user.uid, user.gid);
  const data = join(home, 'data');
  const identity = { ...user, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const made = spawnSync(
    join(bin, 'initdb'),
    [
      ...['-D', data, '-U', 'bench_admin', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
      ...['-E', 'UTF8', '--locale=C.UTF-8'],
    ],
    { ...identity, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || String(made.error)}`);
  const port = await freePort();
  const server = run.start(
    `${name}-postgres`,
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-k', home, '-c', 'listen_addresses=127.0.0.1'],
    identity,
  );
  // As Dak reaches its embedded one; those it is measured against get the same address.
  const adminUrl = serverUrl({ user: 'bench_admin', password, folder: home, port });
  await waitFor('The start of PostgreSQL', 30, async () => {
    if (server.child.exitCode !== null) throw new Error(readFileSync(server.logFile, 'utf8'));
    return await queryRows(adminUrl, 'select 1').catch(() => null);
  });
  return { adminUrl, logFile: server.logFile, stop: () => stopFast(server.child.pid, server.stop) };
}

/** SIGTERM waits for every client; a fast shutdown does not. */
async function stopFast(pid: number | undefined, stop: () => Promise<void>): Promise<void> {
  if (pid !== undefined) {
    try {
      process.kill(pid, 'SIGINT');
    } catch {
      // It has ended already.
    }
  }
  await stop();
}

/** One statement on a connection of its own. */
export async function queryRows(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}

/** The same server, another database. */
export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export function userIds(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
