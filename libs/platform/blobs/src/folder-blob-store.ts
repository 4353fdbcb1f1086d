import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { asStorageFailure, DomainError, NotFoundError, UnavailableError } from '@dak/kernel';
import { BlobFiles, holds, writeFlushed } from './blob-files';
import { BlobJournal, type JournaledBlob } from './blob-journal';
import { BlobRemoval, wherever } from './blob-removal';
import type { BlobReference, BlobStore } from './blob-store';
import { BlobTree } from './blob-tree';
import { exists, flushFolder, inParallel, isMissing } from './durable-files';

export interface FolderBlobStoreOptions {
  /** Compare the content with its name on every `get`. @default false */
  verifyOnRead?: boolean;
  /** Blobs that are safe in the journal could not be flushed to their files. */
  onError?: (error: unknown) => void;
}

/** Octets of content that goes through the journal. */
const SMALL_BYTES = 64 * 1024;
/** Octets hashed before others have their turn: about a millisecond. */
const HASHED_AT_ONCE = 1024 * 1024;
/** Files flushed at the same time; more only queue in libuv's pool of four threads. */
const PARALLEL_FLUSHES = 8;
/** Files of one folder opened at the same time: they wait for each other, so more only hold the pool. */
const PARALLEL_OPENS = 2;

/**
 * Blobs as files `<root>/<organization>/<aa>/<sha256>`. A large file appears under its name by rename
 * after its bytes were flushed, and the folder is flushed after the rename. Small ones are durable by
 * `<root>/journal` ({@link BlobJournal}) before their files are, and {@link FolderBlobStore.open}
 * restores content lost in a crash of the machine. A crash leaves no partial blob, only temporary
 * files under `<root>/incoming`, which are removed after an hour.
 */
export class FolderBlobStore implements BlobStore {
  readonly #verifyOnRead: boolean;
  readonly #tree: BlobTree;
  readonly #files: BlobFiles;
  readonly #journal: BlobJournal;
  readonly #removal: BlobRemoval;

  private constructor(root: string, options: FolderBlobStoreOptions) {
    this.#verifyOnRead = options.verifyOnRead ?? false;
    this.#tree = new BlobTree(root);
    this.#files = new BlobFiles(this.#tree);
    this.#journal = new BlobJournal({
      folder: this.#tree.journal,
      flush: (blobs) => this.#files.flush(blobs),
      rewrite: (blobs) => this.#files.rewrite(blobs),
      restore: (blobs) => this.#files.restore(blobs),
      ...(options.onError && { onError: options.onError }),
    });
    this.#removal = new BlobRemoval(this.#tree, this.#journal);
  }

  /** Creates the folder if absent, restores the journal's contents, and removes leftovers of a crash more than an hour ago. */
  static async open(root: string, options: FolderBlobStoreOptions = {}): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(root, options);
    await store.#tree.make();
    await store.#journal.recover();
    await store.#tree.sweepIncoming();
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
    const references: BlobReference[] = [];
    for (const content of contents) {
      references.push({ sha256: await sha256Of(content), sizeBytes: content.byteLength });
    }
    const wanted = new Map(
      references.map(({ sha256 }, i): [string, JournaledBlob] => [
        this.#tree.path(organizationId, sha256),
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
      this.#files.writeSmall(path, content),
    );
    // Last: the journal has flushed what it forgets, so it must be present.
    await this.#journal.append(small.map(([, blob]) => blob));
    const folders = [...new Set(large.map(([path]) => dirname(path)))];
    await inParallel(folders, PARALLEL_FLUSHES, (folder) => this.#tree.durableFolder(folder));
    await inParallel(large, PARALLEL_FLUSHES, async ([path, { content }]) => {
      if (!isFile(path)) await this.#files.writeDurably(path, content);
    });
    await inParallel(folders, PARALLEL_FLUSHES, flushFolder);
    return references;
  }

  async putStream(
    organizationId: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<BlobReference> {
    this.#tree.organizationFolder(organizationId);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const temporary = this.#tree.temporaryPath();
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
      const path = this.#tree.path(organizationId, sha256);
      await this.#tree.durableFolder(dirname(path));
      await rename(temporary, path);
      await flushFolder(dirname(path));
      return { sha256, sizeBytes };
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw asStorageFailure(error);
    }
  }

  async get(organizationId: string, sha256: string): Promise<Buffer> {
    const path = this.#tree.path(organizationId, sha256);
    const content = await orNotFound(wherever(path, (place) => readFile(place)));
    if (this.#verifyOnRead) {
      const actual = createHash('sha256').update(content).digest('hex');
      if (actual !== sha256) throw damaged(sha256);
    }
    return content;
  }

  async stream(organizationId: string, sha256: string): Promise<Readable> {
    const path = this.#tree.path(organizationId, sha256);
    const file = await orNotFound(wherever(path, (place) => open(place, 'r')));
    return createReadStream('', { fd: file, highWaterMark: 256 * 1024 });
  }

  async has(organizationId: string, sha256: string): Promise<boolean> {
    return exists(this.#tree.path(organizationId, sha256));
  }

  requirePresent(organizationId: string, sha256s: Iterable<string>): void {
    for (const sha256 of sha256s) {
      if (isFile(this.#tree.path(organizationId, sha256))) continue;
      throw new UnavailableError('Stored content was just being removed. Try again.', 1);
    }
  }

  delete(organizationId: string, sha256: string): Promise<void> {
    return this.#removal.delete(organizationId, sha256);
  }

  list(organizationId: string, prefix: string): Promise<string[]> {
    return this.#removal.list(organizationId, prefix);
  }

  removeUnreferenced(
    organizationId: string,
    candidates: readonly string[],
    findReferenced: (sha256s: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<BlobReference[]> {
    return this.#removal.removeUnreferenced(organizationId, candidates, findReferenced);
  }

  putBack(organizationId: string, sha256s: Iterable<string>): Promise<void> {
    return this.#removal.putBack(organizationId, sha256s);
  }

  forgetJournals(): Promise<void> {
    return this.#removal.forgetJournals();
  }

  removeOrganization(organizationId: string): Promise<{ blobs: number; bytes: number }> {
    return this.#removal.removeOrganization(organizationId);
  }
}

/** Large content in pieces: others have their turn between them. */
async function sha256Of(content: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < content.byteLength; from += HASHED_AT_ONCE) {
    if (from > 0) await turn();
    hash.update(content.subarray(from, from + HASHED_AT_ONCE));
  }
  return hash.digest('hex');
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function orNotFound<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isMissing(error) ? new NotFoundError('blob') : asStorageFailure(error);
  }
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
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
