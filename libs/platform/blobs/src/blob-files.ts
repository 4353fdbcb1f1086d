import {
  closeSync,
  open as openCallback,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { JournaledBlob } from './blob-journal';
import type { BlobTree } from './blob-tree';
import { flushFile, flushFolder, inParallel, isMissing } from './durable-files';

/** Background flushes at a time: other work needs libuv's pool of four threads. */
const LATE_FLUSHES = 2;

type BlobName = Omit<JournaledBlob, 'content'>;

/** Writes the files of a tree, and makes those durable that the journal has written before. */
export class BlobFiles {
  constructor(private readonly tree: BlobTree) {}

  /** Whole when it appears under its name; durable later. */
  async writeSmall(path: string, content: Uint8Array): Promise<void> {
    this.tree.folder(dirname(path));
    const temporary = this.tree.temporaryPath();
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

  /** Durable, and the name as soon as its folder is flushed. */
  async writeDurably(path: string, content: Uint8Array): Promise<void> {
    const temporary = this.tree.temporaryPath();
    try {
      await writeFlushed(temporary, (write) => write(content));
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async flush(blobs: readonly BlobName[]): Promise<void> {
    await inParallel([...new Set(this.#paths(blobs))], LATE_FLUSHES, flushFile);
    await this.#flushFolders(blobs);
  }

  async rewrite(blobs: readonly JournaledBlob[]): Promise<void> {
    await inParallel(blobs, LATE_FLUSHES, ({ organizationId, sha256, content }) =>
      this.writeDurably(this.tree.path(organizationId, sha256), content),
    );
    await this.#flushFolders(blobs);
  }

  async restore(blobs: readonly JournaledBlob[]): Promise<void> {
    for (const { organizationId, sha256, content } of blobs) {
      const path = this.tree.path(organizationId, sha256);
      if (!holds(path, content)) await this.writeSmall(path, content);
    }
  }

  #paths(blobs: readonly BlobName[]): string[] {
    return blobs.map(({ organizationId, sha256 }) => this.tree.path(organizationId, sha256));
  }

  async #flushFolders(blobs: readonly BlobName[]): Promise<void> {
    const folders = new Set(this.#paths(blobs).map(dirname));
    const parents = new Set([
      ...[...folders].map(dirname),
      ...(blobs.length > 0 ? [this.tree.root] : []),
    ]);
    await flushFolders([...folders, ...parents]);
  }
}

/** Flushes names in folders, in the background. */
export function flushFolders(folders: readonly string[]): Promise<void> {
  return inParallel(folders, LATE_FLUSHES, flushFolder);
}

const openFile = promisify(openCallback);

type Fill = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

/** Makes a file that is durable when it returns; its name is not yet. */
export async function writeFlushed(path: string, fill: Fill): Promise<void> {
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

/** Without leaving the thread: that takes 20 µs, and 100 otherwise. */
export function holds(path: string, content: Uint8Array): boolean {
  try {
    return Buffer.compare(readFileSync(path), content) === 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
