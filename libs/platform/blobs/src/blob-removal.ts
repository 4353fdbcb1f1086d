import { readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushFolders } from './blob-files';
import type { BlobJournal } from './blob-journal';
import type { BlobReference, BlobStore } from './blob-store';
import { isSha256, type BlobTree } from './blob-tree';
import { exists, flushFolder, isMissing, unlessMissing } from './durable-files';

/** Suffix of content being removed, until it is certain that it is unreferenced. */
const ASIDE = '.aside';

type Removal = Pick<
  BlobStore,
  'delete' | 'list' | 'removeUnreferenced' | 'putBack' | 'forgetJournals' | 'removeOrganization'
>;

/** Removes files of a tree, so that no reference is left without its content and no journal brings it back. */
export class BlobRemoval implements Removal {
  constructor(
    private readonly tree: BlobTree,
    private readonly journal: BlobJournal,
  ) {}

  /** Deleting what is absent is no error. */
  async delete(organizationId: string, sha256: string): Promise<void> {
    const path = this.tree.path(organizationId, sha256);
    // Else the next start would restore it.
    await this.journal.checkpoint();
    try {
      await unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return;
    }
    await flushFolder(dirname(path));
  }

  async list(organizationId: string, prefix: string): Promise<string[]> {
    const folder = dirname(this.tree.path(organizationId, prefix.padEnd(64, '0')));
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
      const path = this.tree.path(organizationId, sha256);
      await rename(path, path + ASIDE).catch(unlessMissing);
      // Also content left set aside by a crash.
      if (await exists(path + ASIDE)) aside.push(sha256);
    }
    if (aside.length === 0) return [];
    const referenced = await findReferenced(aside).catch(async (error: unknown) => {
      await this.putBack(organizationId, aside);
      throw error;
    });
    const removed: BlobReference[] = [];
    for (const sha256 of aside) {
      const path = this.tree.path(organizationId, sha256);
      if (referenced.has(sha256)) {
        await rename(path + ASIDE, path).catch(unlessMissing);
        continue;
      }
      const found = await stat(path + ASIDE).catch(unlessMissing);
      await unlink(path + ASIDE).catch(unlessMissing);
      if (found !== undefined) removed.push({ sha256, sizeBytes: found.size });
    }
    await flushFolders([
      ...new Set(aside.map((sha256) => dirname(this.tree.path(organizationId, sha256)))),
    ]);
    return removed;
  }

  async putBack(organizationId: string, sha256s: Iterable<string>): Promise<void> {
    const folders = new Set<string>();
    for (const sha256 of sha256s) {
      const path = this.tree.path(organizationId, sha256);
      if (!(await exists(path + ASIDE))) continue;
      await rename(path + ASIDE, path).catch(unlessMissing);
      folders.add(dirname(path));
    }
    await flushFolders([...folders]);
  }

  forgetJournals(): Promise<void> {
    return this.journal.forget();
  }

  async removeOrganization(organizationId: string): Promise<{ blobs: number; bytes: number }> {
    const folder = this.tree.organizationFolder(organizationId);
    await this.journal.forget();
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
    this.tree.forget(folder);
    await rm(folder, { recursive: true, force: true });
    await flushFolder(this.tree.root);
    return total;
  }
}

/** Reads what may be set aside or put back meanwhile. */
export async function wherever<T>(path: string, read: (path: string) => Promise<T>): Promise<T> {
  for (const place of [path, path + ASIDE]) {
    try {
      return await read(place);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return read(path);
}
