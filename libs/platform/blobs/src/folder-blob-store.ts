import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fdatasync,
  fsync,
  open as openFile,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
  type Dirent,
} from 'node:fs';
import { mkdir, open, readFile, readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { DomainError, InvalidError, NotFoundError, isUuid, uuidv4 } from '@dak/kernel';
import type { BlobReference, BlobStore } from './blob-store';

export interface FolderBlobStoreOptions {
  /** Compare the content with its name on every `get`. @default false */
  verifyOnRead?: boolean;
}

const SHA256 = /^[0-9a-f]{64}$/;
const INCOMING = 'incoming';
const ABANDONED_AFTER_MS = 3_600_000;
/**
 * Octets of content that is written, closed and renamed without leaving the thread: some 50 µs, where
 * each step in libuv's pool costs the waking of a thread. What may wait for the disk goes there.
 */
const SMALL_BYTES = 64 * 1024;
/** Small files open at the same time. */
const SMALL_FILES = 64;
/** Files flushed at the same time; more only queue in libuv's pool of four threads. */
const PARALLEL_FLUSHES = 8;

/**
 * Blobs as files `<root>/<organization>/<aa>/<sha256>`. A file appears under its name by rename after
 * its bytes were flushed, and the folder is flushed after the rename: a crash leaves no partial blob,
 * only temporary files under `<root>/incoming`, which {@link FolderBlobStore.open} removes after an hour.
 */
export class FolderBlobStore implements BlobStore {
  readonly #root: string;
  readonly #verifyOnRead: boolean;
  /** Folders known to exist durably. */
  readonly #folders = new Map<string, Promise<void>>();

  private constructor(root: string, options: FolderBlobStoreOptions) {
    this.#root = resolve(root);
    this.#verifyOnRead = options.verifyOnRead ?? false;
  }

  /** Makes the folder if absent and removes what a crash more than an hour ago left behind. */
  static async open(root: string, options: FolderBlobStoreOptions = {}): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(root, options);
    await mkdir(store.#root, { recursive: true, mode: 0o700 });
    await store.#folder(join(store.#root, INCOMING));
    await store.#sweepIncoming(Date.now() - ABANDONED_AFTER_MS);
    return store;
  }

  async put(organizationId: string, content: Uint8Array): Promise<BlobReference> {
    const [reference] = await this.putMany(organizationId, [content]);
    return reference!;
  }

  async putMany(organizationId: string, contents: readonly Uint8Array[]): Promise<BlobReference[]> {
    const references = contents.map((content) => ({
      sha256: createHash('sha256').update(content).digest('hex'),
      sizeBytes: content.byteLength,
    }));
    const wanted = new Map<string, Uint8Array>();
    references.forEach(({ sha256 }, i) =>
      wanted.set(this.#path(organizationId, sha256), contents[i]!),
    );
    const folders = [...new Set([...wanted.keys()].map(dirname))];
    await inParallel(folders, PARALLEL_FLUSHES, (folder) => this.#folder(folder));
    // Present under its name means complete; flushing the folder covers a rename still in flight.
    const absent = [...wanted].filter(
      ([path]) => statSync(path, { throwIfNoEntry: false })?.isFile() !== true,
    );
    const [small, large] = partition(absent, ([, content]) => content.byteLength <= SMALL_BYTES);
    for (let start = 0; start < small.length; start += SMALL_FILES) {
      await this.#writeSmall(small.slice(start, start + SMALL_FILES));
    }
    await inParallel(large, PARALLEL_FLUSHES, ([path, content]) =>
      this.#writeDurably(path, async (write) => write(content)),
    );
    await inParallel(folders, PARALLEL_FLUSHES, flushFolder);
    return references;
  }

  async putStream(
    organizationId: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<BlobReference> {
    this.#organizationFolder(organizationId);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const temporary = this.#temporaryPath();
    try {
      await writeFlushed(temporary, async (write) => {
        for await (const chunk of content) {
          sizeBytes += chunk.byteLength;
          if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
          hash.update(chunk);
          await write(chunk);
        }
      });
      const sha256 = hash.digest('hex');
      const path = this.#path(organizationId, sha256);
      await this.#folder(dirname(path));
      await rename(temporary, path);
      await flushFolder(dirname(path));
      return { sha256, sizeBytes };
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async get(organizationId: string, sha256: string): Promise<Buffer> {
    const content = await orNotFound(readFile(this.#path(organizationId, sha256)));
    if (this.#verifyOnRead) {
      const actual = createHash('sha256').update(content).digest('hex');
      if (actual !== sha256) throw damaged(sha256);
    }
    return content;
  }

  async stream(organizationId: string, sha256: string): Promise<Readable> {
    const file = await orNotFound(open(this.#path(organizationId, sha256), 'r'));
    return createReadStream('', { fd: file, highWaterMark: 256 * 1024 });
  }

  async has(organizationId: string, sha256: string): Promise<boolean> {
    return exists(this.#path(organizationId, sha256));
  }

  /** Deleting what is absent is no error. */
  async delete(organizationId: string, sha256: string): Promise<void> {
    const path = this.#path(organizationId, sha256);
    try {
      await unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return;
    }
    await flushFolder(dirname(path));
  }

  /** All are written before the first is flushed: making files while others are flushed takes ten times as long. */
  async #writeSmall(
    blobs: readonly (readonly [path: string, content: Uint8Array])[],
  ): Promise<void> {
    const written: { file: number; temporary: string; path: string }[] = [];
    const renamed = new Set<string>();
    try {
      // One after the other: they would only wait for the lock of the folder.
      for (const [path, content] of blobs) {
        const temporary = this.#temporaryPath();
        const file = await makeFile(temporary, 'wx', 0o600);
        written.push({ file, temporary, path });
        let bytes = 0;
        while (bytes < content.byteLength) bytes += writeSync(file, content, bytes);
      }
      await inParallel(written, PARALLEL_FLUSHES, ({ file }) => flushData(file));
      for (const { temporary, path } of written) {
        renameSync(temporary, path);
        renamed.add(temporary);
      }
    } finally {
      for (const { file, temporary } of written) {
        closeSync(file);
        if (!renamed.has(temporary)) unlinkSync(temporary);
      }
    }
  }

  async #writeDurably(path: string, fill: Fill): Promise<void> {
    const temporary = this.#temporaryPath();
    try {
      await writeFlushed(temporary, fill);
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  #temporaryPath(): string {
    return join(this.#root, INCOMING, uuidv4());
  }

  /** Both parts of a path are checked for their exact form, so that no caller can leave the root. */
  #organizationFolder(organizationId: string): string {
    if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
    return join(this.#root, organizationId.toLowerCase());
  }

  #path(organizationId: string, sha256: string): string {
    const folder = this.#organizationFolder(organizationId);
    if (!SHA256.test(sha256)) {
      throw new InvalidError('sha256 must be 64 lower-case hexadecimal digits.');
    }
    return join(folder, sha256.slice(0, 2), sha256);
  }

  /** Makes a folder of the tree durable: a new entry exists only once its parent was flushed. */
  #folder(path: string): Promise<void> {
    let ready = this.#folders.get(path);
    if (ready === undefined) {
      ready = this.#makeFolder(path).catch((error: unknown) => {
        this.#folders.delete(path);
        throw error;
      });
      this.#folders.set(path, ready);
    }
    return ready;
  }

  async #makeFolder(path: string): Promise<void> {
    const parent = dirname(path);
    if (parent !== this.#root) await this.#folder(parent);
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    await flushFolder(parent);
  }

  async #sweepIncoming(before: number): Promise<void> {
    const folder = join(this.#root, INCOMING);
    const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const { mtimeMs } = await stat(path);
      if (entry.isFile() && mtimeMs < before) await unlink(path);
    }
  }
}

type Fill = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

async function writeFlushed(path: string, fill: Fill): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await fill(async (chunk) => {
      let written = 0;
      while (written < chunk.byteLength) {
        written += (await file.write(chunk, written)).bytesWritten;
      }
    });
    await file.datasync();
  } finally {
    await file.close();
  }
}

const makeFile = promisify(openFile);
const flushData = promisify(fdatasync);
const flushAll = promisify(fsync);

async function flushFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r');
  try {
    await flushAll(folder);
  } finally {
    closeSync(folder);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function orNotFound<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isMissing(error) ? new NotFoundError('blob') : error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lanes = Array.from({ length: Math.min(width, items.length) }, async () => {
    while (next < items.length) await work(items[next++]!);
  });
  // Every lane ends before the first error is reported, so that nothing is written behind the caller.
  for (const lane of await Promise.allSettled(lanes)) {
    if (lane.status === 'rejected') throw lane.reason;
  }
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'too_large',
    'blob_too_large',
    `The content is larger than ${maxBytes} bytes; send a smaller one.`,
  );
}

function damaged(sha256: string): DomainError {
  return new DomainError(
    'internal',
    'blob_damaged',
    `The stored bytes of ${sha256} no longer match their hash; restore the blob from a backup.`,
  );
}
