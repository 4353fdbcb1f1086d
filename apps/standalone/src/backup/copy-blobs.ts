import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, type Dirent } from 'node:fs';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isUuid } from '@dak/kernel';
import { damaged } from './manifest';

/** A file of the blob store. */
export interface BlobEntry {
  /** `<organization>/<aa>/<sha256>`. */
  path: string;
  bytes: number;
}

const ENTRY = /^([0-9a-f-]{36})\/([0-9a-f]{2})\/(\2[0-9a-f]{62}) (\d+)$/;
const SHA256 = /^[0-9a-f]{64}$/;
/** Suffix of files that a dead process was about to remove; rows may still refer to them (`FolderBlobStore`). */
const ASIDE = '.aside';
const AT_ONCE = 4;
const SMALL_BYTES = 1024 * 1024;

/** The blobs below a folder, an organization after the other; none where there is no folder. */
export async function* listBlobs(root: string): AsyncGenerator<string> {
  for (const organization of await entries(root)) {
    if (!organization.isDirectory() || !isUuid(organization.name)) continue;
    for (const part of await entries(join(root, organization.name))) {
      const files = await entries(join(root, organization.name, part.name));
      for (const blob of new Set(files.map(({ name }) => name.replace(ASIDE, '')))) {
        if (SHA256.test(blob)) yield `${organization.name}/${part.name}/${blob}`;
      }
    }
  }
}

export interface CopyBlobsOptions {
  from: string;
  to: string;
  paths: AsyncIterable<string> | Iterable<string>;
  /** A file is not what its name says. */
  onDamaged: (path: string) => void;
  progress: (blobs: number, bytes: number) => void;
}

/**
 * Copies blobs and compares each with its name. They need not be durable when it returns. What has gone meanwhile,
 * which only happens to what nothing refers to, is left out.
 */
export async function copyBlobs(options: CopyBlobsOptions): Promise<BlobEntry[]> {
  const copied: BlobEntry[] = [];
  const folders = new Set<string>();
  await eachOf(options.paths, async (path) => {
    const target = join(options.to, path);
    if (!folders.has(dirname(target))) {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      folders.add(dirname(target));
    }
    const from = join(options.from, path);
    // It may be put back meanwhile.
    const found =
      (await copyBlob(from, target)) ??
      (await copyBlob(from + ASIDE, target)) ??
      (await copyBlob(from, target));
    if (found === null) return;
    if (!path.endsWith(found.sha256)) options.onDamaged(path);
    copied.push({ path, bytes: found.bytes });
    options.progress(1, found.bytes);
  });
  return copied;
}

async function copyBlob(
  from: string,
  to: string,
): Promise<{ sha256: string; bytes: number } | null> {
  const hash = createHash('sha256');
  try {
    const { size } = await stat(from);
    if (size > SMALL_BYTES) {
      const hashing = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      const target = createWriteStream(to, { mode: 0o600 });
      await pipeline(createReadStream(from), hashing, target);
      return { sha256: hash.digest('hex'), bytes: target.bytesWritten };
    }
    const content = await readFile(from);
    await writeFile(to, content, { mode: 0o600 });
    return { sha256: hash.update(content).digest('hex'), bytes: content.byteLength };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** @throws InvalidError when the list is no list */
export function parseBlobList(text: string, file: string): BlobEntry[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw damaged(file);
  return lines.map((line) => {
    const match = ENTRY.exec(line);
    if (match === null || !isUuid(match[1]!)) throw damaged(file);
    return { path: line.slice(0, line.indexOf(' ')), bytes: Number(match[4]) };
  });
}

export async function eachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: Error | undefined;
  for await (const item of items) {
    if (failure !== undefined) break;
    const one = work(item)
      .catch((error: unknown) => {
        failure ??= error as Error;
      })
      .then(() => void running.delete(one));
    running.add(one);
    if (running.size >= AT_ONCE) await Promise.race(running);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
}

async function entries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}
