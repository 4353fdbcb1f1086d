import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { BenchRun } from './bench-run';

const POLICY = '/usr/sbin/policy-rc.d';

/** Installs a package of Debian when we are root and `program` is missing; none of its services is started. */
export function ensureDebianPackage(run: BenchRun, name: string, program: string): boolean {
  if (existsSync(program)) return true;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  run.say(`Installing ${name} (nothing of it is started) …`);
  const isOurs = !existsSync(POLICY);
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const options = {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore' as const,
    };
    const install = () =>
      spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], options).status;
    if (install() !== 0) {
      spawnSync('apt-get', ['update'], options);
      install();
    }
  } finally {
    if (isOurs) rmSync(POLICY);
  }
  return existsSync(program);
}
