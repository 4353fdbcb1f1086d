import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  mkdirSync,
  open as openCallback,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
  type Dirent,
} from 'node:fs';
import { mkdir, open, readFile, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  asStorageFailure,
  DomainError,
  InvalidError,
  NotFoundError,
  UnavailableError,
  isUuid,
  uuidv4,
} from '@dak/kernel';
import { BlobJournal, type JournaledBlob } from './blob-journal';
import type { BlobReference, BlobStore } from './blob-store';
import { flushFile, flushFolder, isMissing, unlessMissing } from './durable-files';

export interface FolderBlobStoreOptions {
  /** Compare the content with its name on every `get`. @default false */
  verifyOnRead?: boolean;
  /** Blobs that are safe in the journal could not be flushed to their files. */
  onError?: (error: unknown) => void;
}

const SHA256 = /^[0-9a-f]{64}$/;
const INCOMING = 'incoming';
/** After the name of content that is being removed, until it is certain that nobody refers to it. */
const ASIDE = '.aside';
const JOURNAL = 'journal';
const ABANDONED_AFTER_MS = 3_600_000;
/** Octets of content that goes through the journal. */
const SMALL_BYTES = 64 * 1024;
/** Files flushed at the same time; more only queue in libuv's pool of four threads. */
const PARALLEL_FLUSHES = 8;
/** Files of one folder opened at the same time: they wait for each other, so more only hold the pool. */
const PARALLEL_OPENS = 2;
/** Of those that nobody waits for: others need the pool. */
const LATE_FLUSHES = 2;

/**
 * Blobs as files `<root>/<organization>/<aa>/<sha256>`. A large file appears under its name by rename
 * after its bytes were flushed, and the folder is flushed after the rename. Small ones are durable by
 * `<root>/journal` ({@link BlobJournal}) before their files are, and {@link FolderBlobStore.open}
 * restores from it what a crash of the machine took. A crash leaves no partial blob, only temporary
 * files under `<root>/incoming`, which are removed after an hour.
 */
export class FolderBlobStore implements BlobStore {
  readonly #root: string;
  readonly #verifyOnRead: boolean;
  /** Folders known to exist durably. */
  readonly #folders = new Map<string, Promise<void>>();
  /** Folders known to exist. */
  readonly #made = new Set<string>();
  readonly #journal: BlobJournal;

  private constructor(root: string, options: FolderBlobStoreOptions) {
    this.#root = resolve(root);
    this.#verifyOnRead = options.verifyOnRead ?? false;
    this.#journal = new BlobJournal({
      folder: join(this.#root, JOURNAL),
      flush: (blobs) => this.#flush(blobs),
      rewrite: (blobs) => this.#rewrite(blobs),
      restore: (blobs) => this.#restore(blobs),
      ...(options.onError && { onError: options.onError }),
    });
  }

  /** Makes the folder if absent, restores what is in the journal, and removes what a crash more than an hour ago left behind. */
  static async open(root: string, options: FolderBlobStoreOptions = {}): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(root, options);
    await mkdir(store.#root, { recursive: true, mode: 0o700 });
    await flushFolder(dirname(store.#root));
    for (const name of [INCOMING, JOURNAL]) await store.#folder(join(store.#root, name));
    await store.#journal.recover();
    await store.#sweepIncoming(Date.now() - ABANDONED_AFTER_MS);
    return store;
  }

  async put(organizationId: string, content: Uint8Array): Promise<BlobReference> {
    const [reference] = await this.putMany(organizationId, [content]);
    return reference!;
  }

  async putMany(organizationId: string, contents: readonly Uint8Array[]): Promise<BlobReference[]> {
    try {
      return await this.#putMany(organizationId, contents);
    } catch (error) {
      throw asStorageFailure(error);
    }
  }

  async #putMany(
    organizationId: string,
    contents: readonly Uint8Array[],
  ): Promise<BlobReference[]> {
    const references = contents.map((content) => ({
      sha256: createHash('sha256').update(content).digest('hex'),
      sizeBytes: content.byteLength,
    }));
    const wanted = new Map(
      references.map(({ sha256 }, i): [string, JournaledBlob] => [
        this.#path(organizationId, sha256),
        { organizationId, sha256, content: contents[i]! },
      ]),
    );
    const [small, large] = partition(
      [...wanted],
      ([, { content }]) => content.byteLength <= SMALL_BYTES,
    );
    // What is present may be durable only in a moment, hence it goes into the journal like the others; and
    // a crash before that may have left a part of it.
    const absent = small.filter(([path, { content }]) => !holds(path, content));
    await inParallel(absent, PARALLEL_OPENS, ([path, { content }]) =>
      this.#writeSmall(path, content),
    );
    // Last: what the journal forgets has been flushed, so it has to be there.
    await this.#journal.append(small.map(([, blob]) => blob));
    const folders = [...new Set(large.map(([path]) => dirname(path)))];
    await inParallel(folders, PARALLEL_FLUSHES, (folder) => this.#folder(folder));
    await inParallel(large, PARALLEL_FLUSHES, async ([path, { content }]) => {
      if (!isFile(path)) await this.#writeDurably(path, async (write) => write(content));
    });
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
      throw asStorageFailure(error);
    }
  }

  async get(organizationId: string, sha256: string): Promise<Buffer> {
    const path = this.#path(organizationId, sha256);
    const content = await orNotFound(wherever(path, (place) => readFile(place)));
    if (this.#verifyOnRead) {
      const actual = createHash('sha256').update(content).digest('hex');
      if (actual !== sha256) throw damaged(sha256);
    }
    return content;
  }

  async stream(organizationId: string, sha256: string): Promise<Readable> {
    const path = this.#path(organizationId, sha256);
    const file = await orNotFound(wherever(path, (place) => open(place, 'r')));
    return createReadStream('', { fd: file, highWaterMark: 256 * 1024 });
  }

  async has(organizationId: string, sha256: string): Promise<boolean> {
    return exists(this.#path(organizationId, sha256));
  }

  /** Deleting what is absent is no error. */
  async delete(organizationId: string, sha256: string): Promise<void> {
    const path = this.#path(organizationId, sha256);
    // Else the next start would restore it.
    await this.#journal.checkpoint();
    try {
      await unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return;
    }
    await flushFolder(dirname(path));
  }

  requirePresent(organizationId: string, sha256s: Iterable<string>): void {
    for (const sha256 of sha256s) {
      if (isFile(this.#path(organizationId, sha256))) continue;
      throw new UnavailableError('Stored content was just being removed. Try again.', 1);
    }
  }

  async list(organizationId: string, prefix: string): Promise<string[]> {
    const folder = dirname(this.#path(organizationId, prefix.padEnd(64, '0')));
    const names = (await readdir(folder).catch(unlessMissing)) ?? [];
    return [...new Set(names.map((name) => name.replace(ASIDE, '')).filter(isSha256))];
  }

  async removeUnreferenced(
    organizationId: string,
    candidates: readonly string[],
    findReferenced: (sha256s: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<BlobReference[]> {
    const aside: string[] = [];
    for (const sha256 of new Set(candidates)) {
      const path = this.#path(organizationId, sha256);
      await rename(path, path + ASIDE).catch(unlessMissing);
      // Also what a crash has left set aside.
      if (await exists(path + ASIDE)) aside.push(sha256);
    }
    if (aside.length === 0) return [];
    const referenced = await findReferenced(aside).catch(async (error: unknown) => {
      await this.putBack(organizationId, aside);
      throw error;
    });
    const removed: BlobReference[] = [];
    for (const sha256 of aside) {
      const path = this.#path(organizationId, sha256);
      if (referenced.has(sha256)) {
        await rename(path + ASIDE, path).catch(unlessMissing);
        continue;
      }
      const found = await stat(path + ASIDE).catch(unlessMissing);
      await unlink(path + ASIDE).catch(unlessMissing);
      if (found !== undefined) removed.push({ sha256, sizeBytes: found.size });
    }
    const folders = new Set(aside.map((sha256) => dirname(this.#path(organizationId, sha256))));
    await inParallel([...folders], LATE_FLUSHES, flushFolder);
    return removed;
  }

  async putBack(organizationId: string, sha256s: Iterable<string>): Promise<void> {
    const folders = new Set<string>();
    for (const sha256 of sha256s) {
      const path = this.#path(organizationId, sha256);
      if (!(await exists(path + ASIDE))) continue;
      await rename(path + ASIDE, path).catch(unlessMissing);
      folders.add(dirname(path));
    }
    await inParallel([...folders], LATE_FLUSHES, flushFolder);
  }

  forgetJournals(): Promise<void> {
    return this.#journal.forget();
  }

  async removeOrganization(organizationId: string): Promise<{ blobs: number; bytes: number }> {
    const folder = this.#organizationFolder(organizationId);
    await this.#journal.forget();
    const total = { blobs: 0, bytes: 0 };
    for (const name of (await readdir(folder).catch(unlessMissing)) ?? []) {
      const inner = join(folder, name);
      for (const file of (await readdir(inner).catch(unlessMissing)) ?? []) {
        const found = await stat(join(inner, file)).catch(unlessMissing);
        await unlink(join(inner, file)).catch(unlessMissing);
        total.blobs += 1;
        total.bytes += found?.size ?? 0;
      }
    }
    for (const known of [this.#folders, this.#made]) {
      for (const path of known.keys()) if (path.startsWith(folder)) known.delete(path);
    }
    await rm(folder, { recursive: true, force: true });
    await flushFolder(this.#root);
    return total;
  }

  /** Whole when it appears under its name; durable later. */
  async #writeSmall(path: string, content: Uint8Array): Promise<void> {
    const folder = dirname(path);
    if (!this.#made.has(folder)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#made.add(folder);
    }
    const temporary = this.#temporaryPath();
    // The file system looks for a free inode, which takes ten times as long as all the rest.
    const file = await openFile(temporary, 'wx', 0o600);
    try {
      for (let at = 0; at < content.byteLength;) at += writeSync(file, content, at);
      renameSync(temporary, path);
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    } finally {
      closeSync(file);
    }
  }

  async #flush(blobs: readonly Omit<JournaledBlob, 'content'>[]): Promise<void> {
    const paths = new Set(
      blobs.map(({ organizationId, sha256 }) => this.#path(organizationId, sha256)),
    );
    await inParallel([...paths], LATE_FLUSHES, flushFile);
    await this.#flushFolders(blobs);
  }

  async #flushFolders(blobs: readonly Omit<JournaledBlob, 'content'>[]): Promise<void> {
    const paths = blobs.map(({ organizationId, sha256 }) => this.#path(organizationId, sha256));
    const folders = new Set(paths.map(dirname));
    const parents = new Set([
      ...[...folders].map(dirname),
      ...(paths.length > 0 ? [this.#root] : []),
    ]);
    await inParallel([...folders, ...parents], LATE_FLUSHES, flushFolder);
  }

  async #rewrite(blobs: readonly JournaledBlob[]): Promise<void> {
    await inParallel(blobs, LATE_FLUSHES, ({ organizationId, sha256, content }) =>
      this.#writeDurably(this.#path(organizationId, sha256), (write) => write(content)),
    );
    await this.#flushFolders(blobs);
  }

  async #restore(blobs: readonly JournaledBlob[]): Promise<void> {
    for (const { organizationId, sha256, content } of blobs) {
      const path = this.#path(organizationId, sha256);
      if (!holds(path, content)) await this.#writeSmall(path, content);
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
      // Another process may be moving it to its place.
      const found = await stat(path).catch(unlessMissing);
      if (entry.isFile() && found !== undefined && found.mtimeMs < before) await unlink(path);
    }
  }
}

const openFile = promisify(openCallback);

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

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Reads what may be set aside or put back meanwhile. */
async function wherever<T>(path: string, read: (path: string) => Promise<T>): Promise<T> {
  for (const place of [path, path + ASIDE]) {
    try {
      return await read(place);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return read(path);
}

function isSha256(name: string): boolean {
  return SHA256.test(name);
}

async function orNotFound<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isMissing(error) ? new NotFoundError('blob') : asStorageFailure(error);
  }
}

/** Without leaving the thread: that takes 20 µs, and 100 otherwise. */
function holds(path: string, content: Uint8Array): boolean {
  try {
    return Buffer.compare(readFileSync(path), content) === 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
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
