import { generateKeyPairSync, createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConflictError } from '@dak/kernel';
import { newFirstRunSecrets, type FirstRunSecrets } from './first-run-secrets';

/** What the first start makes up and every later one needs again. */
export interface Secrets {
  /** Signs cursors and download links. */
  secret: string;
  /** Ed25519, PEM (PKCS #8): sessions and principals. */
  signingKey: string;
  firstRun: FirstRunSecrets;
  /** The demo organization, once it is known. */
  organizationId: string | null;
}

export interface DataFolder {
  path: string;
  secrets: Secrets;
  signingKey: KeyObject;
  /** Keeps a change of the secrets. */
  save(): void;
  release(): void;
}

/**
 * Opens the data folder for this process alone and makes the secrets of a new one.
 * @throws ConflictError when another process works in it
 */
export function openDataFolder(path: string): DataFolder {
  const folder = resolve(path);
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, 'dak.lock');
  takeLock(lock, folder);
  const file = join(folder, 'secrets.json');
  const secrets = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Secrets)
    : newSecrets();
  const save = (): void => writePrivateFile(file, secrets);
  save();
  return {
    path: folder,
    secrets,
    signingKey: createPrivateKey(secrets.signingKey),
    save,
    release: () => rmSync(lock, { force: true }),
  };
}

/** Readable by the owner only, and never half-written. */
export function writePrivateFile(file: string, content: unknown): void {
  const incoming = `${file}.new`;
  writeFileSync(incoming, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(incoming, file);
}

function newSecrets(): Secrets {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    secret: randomBytes(32).toString('base64url'),
    signingKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    firstRun: newFirstRunSecrets(),
    organizationId: null,
  };
}

function takeLock(lock: string, folder: string): void {
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) });
  try {
    writeFileSync(lock, mine, { flag: 'wx' });
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (isHeld(lock)) {
    throw new ConflictError(
      `the data folder ${folder} is in use by another running Dak. Stop that one, or set DAK_DATA_DIR to another folder.`,
      'data_folder_in_use',
    );
  }
  writeFileSync(lock, mine);
}

/** A lock outlives a killed process; its pid may then belong to another program, which started at another time. */
function isHeld(lock: string): boolean {
  try {
    const { pid, started } = JSON.parse(readFileSync(lock, 'utf8')) as {
      pid: number;
      started: string | null;
    };
    if (pid === process.pid) return false;
    process.kill(pid, 0);
    return started === null || startOf(pid) === started;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Clock ticks since boot at which a process started (proc(5), field 22), `ended` of a zombie; null where there is no /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended and only waits for its parent to notice.
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
  } catch {
    return null;
  }
}
