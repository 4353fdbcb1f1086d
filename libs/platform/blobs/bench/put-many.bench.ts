import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '../src/folder-blob-store';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

/** Durable blobs per second: batches of 32 with 4 KB each, `writers` batches at a time, for `ms`. */
export async function measurePutMany(writers: number, ms: number): Promise<number> {
  const root = await mkdtemp(join(process.env['DAK_BENCH_DIR'] ?? tmpdir(), 'dak-blob-bench-'));
  const store = await FolderBlobStore.open(root);
  const started = performance.now();
  let stored = 0;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() - started < ms) {
        const contents = Array.from({ length: 32 }, () => randomBytes(4_096));
        stored += (await store.putMany(ORGANIZATION, contents)).length;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  await rm(root, { recursive: true });
  return stored / seconds;
}

/** One number of writers per run: deleting the files of one run slows the next (the disk trims). */
async function main(): Promise<void> {
  const writers = Number(process.argv[2] ?? 1);
  const rate = await measurePutMany(writers, 4_000);
  process.stdout.write(`putMany(32 x 4 KB), ${writers} at a time: ${Math.round(rate)} blobs/s\n`);
}

if (require.main === module) void main();
