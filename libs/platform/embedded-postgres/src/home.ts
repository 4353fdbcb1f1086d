import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, rmSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { OperatingSystemUser, PostgresBinaries } from './binaries';

/** Where PostgreSQL may live when the data folder itself is closed to its user. */
const SYSTEM_HOME = '/var/lib/dak';

export interface PostgresHome {
  /** Cluster, password and log. */
  folder: string;
  bin: string;
}

/**
 * The folder of the cluster: `<data folder>/postgres`. Started by root below a private folder (say
 * `/root`), PostgreSQL's unprivileged user can enter neither the data folder nor `node_modules`;
 * then cluster and binaries go below `/var/lib/dak`, named by the data folder.
 */
export function postgresHome(
  dataDir: string,
  binaries: PostgresBinaries,
  user: OperatingSystemUser | null,
): PostgresHome {
  mkdirSync(dataDir, { recursive: true });
  const inside = join(resolve(dataDir), 'postgres');
  if (user === null) return { folder: made(inside, null), bin: binaries.bin };

  const key = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16);
  const isOpen = mayEnter(dirname(inside), user);
  if (!isOpen) mkdirSync(SYSTEM_HOME, { recursive: true, mode: 0o755 });
  const folder = isOpen ? inside : join(SYSTEM_HOME, key);
  const bin = mayRun(binaries.bin, user) ? binaries.bin : copied(binaries.bin);
  return { folder: made(folder, user), bin };
}

function made(folder: string, user: OperatingSystemUser | null): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}

function mayEnter(folder: string, user: OperatingSystemUser): boolean {
  const probe = spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...user, cwd: '/' });
  return probe.status === 0;
}

function mayRun(bin: string, user: OperatingSystemUser): boolean {
  const probe = spawnSync(join(bin, 'postgres'), ['--version'], { ...user, cwd: '/' });
  return probe.status === 0;
}

function copied(bin: string): string {
  const key = createHash('sha256').update(bin).digest('hex').slice(0, 16);
  const target = join(SYSTEM_HOME, `postgresql-${key}`);
  if (!existsSync(target)) {
    mkdirSync(SYSTEM_HOME, { recursive: true, mode: 0o755 });
    const incomplete = `${target}.new`;
    rmSync(incomplete, { recursive: true, force: true });
    cpSync(dirname(bin), incomplete, { recursive: true, verbatimSymlinks: true });
    spawnSync('chmod', ['-R', 'a+rX', incomplete]);
    renameSync(incomplete, target);
  }
  return join(target, 'bin');
}
