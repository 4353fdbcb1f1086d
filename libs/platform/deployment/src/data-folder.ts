import { generateKeyPairSync, createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';
import {
  existsSync,
  ftruncateSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { ConflictError } from '@dak/kernel';
import { tryLockFile, type FileLock } from '@dak/platform/lifecycle';
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

/** A file in a folder whose backup or restore has not ended. */
export const UNDER_WAY = 'under-way';

/**
 * Opens the data folder for this process alone and makes the secrets of a new one.
 * @throws ConflictError when another process works in it, or a restore into it has not ended
 */
export function openDataFolder(path: string): DataFolder {
  const folder = resolve(path);
  const lock = lockDataFolder(folder);
  if (existsSync(join(folder, UNDER_WAY))) {
    lock.release();
    throw new ConflictError(
      `a restore into the data folder ${folder} has not ended: run it again, it begins from the start, or set DAK_DATA_DIR to another folder.`,
      'restore_unfinished',
    );
  }
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
    release: () => lock.release(),
  };
}

/**
 * Makes the folder if it is absent and holds it for this process alone. A lock that another one holds is
 * left as it is, with everything else in the folder.
 * @throws ConflictError `data_folder_in_use`
 */
export function lockDataFolder(folder: string): FileLock {
  mkdirSync(folder, { recursive: true });
  const lock = tryLockFile(join(folder, 'dak.lock'));
  if (lock === null) {
    throw new ConflictError(
      `the data folder ${folder} is in use by another running Dak. Stop that one, or set DAK_DATA_DIR to another folder.`,
      'data_folder_in_use',
    );
  }
  // For people who look into the file: the lock itself is with the system.
  ftruncateSync(lock.fd, 0);
  writeSync(lock.fd, `${JSON.stringify({ pid: process.pid })}\n`);
  return lock;
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
