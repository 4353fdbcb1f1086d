import { mkdirSync } from 'node:fs';
import { mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InvalidError, isUuid, uuidv4 } from '@dak/kernel';
import { flushFolder, unlessMissing } from './durable-files';

const SHA256 = /^[0-9a-f]{64}$/;
const INCOMING = 'incoming';
const JOURNAL = 'journal';
const ABANDONED_AFTER_MS = 3_600_000;

/** The folders of a blob store: `<root>/<organization>/<aa>/<sha256>`, `<root>/incoming` and `<root>/journal`. */
export class BlobTree {
  readonly root: string;
  /** Folders known to exist durably. */
  readonly #durable = new Map<string, Promise<void>>();
  /** Folders known to exist. */
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.root = resolve(root);
  }

  get journal(): string {
    return join(this.root, JOURNAL);
  }

  /** Makes the folders that all organizations share. */
  async make(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await flushFolder(dirname(this.root));
    for (const name of [INCOMING, JOURNAL]) await this.durableFolder(join(this.root, name));
  }

  /** Removes leftovers of a crash more than an hour ago. */
  async sweepIncoming(): Promise<void> {
    const before = Date.now() - ABANDONED_AFTER_MS;
    const folder = join(this.root, INCOMING);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // Another process may be moving it to its place.
      const found = await stat(path).catch(unlessMissing);
      if (entry.isFile() && found !== undefined && found.mtimeMs < before) await unlink(path);
    }
  }

  /** Temporary name of a file, which is renamed once it is complete. */
  temporaryPath(): string {
    return join(this.root, INCOMING, uuidv4());
  }

  /** Both parts of a path are checked for their exact form, so that no caller can leave the root. */
  organizationFolder(organizationId: string): string {
    if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
    return join(this.root, organizationId.toLowerCase());
  }

  path(organizationId: string, sha256: string): string {
    const folder = this.organizationFolder(organizationId);
    if (!isSha256(sha256)) {
      throw new InvalidError('sha256 must be 64 lower-case hexadecimal digits.');
    }
    return join(folder, sha256.slice(0, 2), sha256);
  }

  /** Makes a folder of the tree, durable later. */
  folder(path: string): void {
    if (this.#made.has(path)) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#made.add(path);
  }

  /** Makes a folder of the tree durable: a new entry exists only once its parent was flushed. */
  durableFolder(path: string): Promise<void> {
    let ready = this.#durable.get(path);
    if (ready === undefined) {
      ready = this.#makeDurable(path).catch((error: unknown) => {
        this.#durable.delete(path);
        throw error;
      });
      this.#durable.set(path, ready);
    }
    return ready;
  }

  /** The folder and those below it are gone. */
  forget(folder: string): void {
    for (const known of [this.#durable, this.#made]) {
      for (const path of known.keys()) if (path.startsWith(folder)) known.delete(path);
    }
  }

  async #makeDurable(path: string): Promise<void> {
    const parent = dirname(path);
    if (parent !== this.root) await this.durableFolder(parent);
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    await flushFolder(parent);
  }
}

export function isSha256(name: string): boolean {
  return SHA256.test(name);
}
