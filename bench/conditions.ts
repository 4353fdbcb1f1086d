import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { postfixVersion } from './postfix';
import { debianPostgres } from './postgres-cluster';

/** What the figures were measured on, a line each. */
export function conditions(): string[] {
  const postgres = spawnSync(join(debianPostgres(), 'postgres'), ['--version'], {
    encoding: 'utf8',
  });
  const [one, five] = loadavg();
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${distribution()}, kernel ${release()}`,
    `${postgres.stdout.trim()}, default settings, fsync on, a fresh cluster per section`,
    `Node.js ${process.version}; Postfix ${postfixVersion() ?? 'absent'}`,
    `load generator, Dak or its peer, and the database share the cores; loopback only`,
    `load average before: ${one?.toFixed(2)} (1 min), ${five?.toFixed(2)} (5 min)`,
  ];
}

function distribution(): string {
  try {
    const fields = readFileSync('/etc/os-release', 'utf8');
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(fields)?.[1] ?? 'unknown system';
  } catch {
    return process.platform;
  }
}
