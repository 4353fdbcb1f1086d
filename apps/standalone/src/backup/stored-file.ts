import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { damaged, type BackupFile } from './manifest';

/** Writes a file of a backup, for its owner alone and durably. */
export async function storeFile(
  folder: string,
  path: string,
  content: Readable,
): Promise<BackupFile> {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const meter = new Meter();
  await pipeline(content, meter, createWriteStream(target, { mode: 0o600, flush: true }));
  return { path, bytes: meter.bytes, sha256: meter.hash.digest('hex') };
}

/** @throws InvalidError when the file is not as it was written */
export async function checkFile(folder: string, file: BackupFile): Promise<void> {
  const { bytes, sha256 } = await measureFile(join(folder, file.path));
  if (bytes !== file.bytes || sha256 !== file.sha256) throw damaged(file.path);
}

/** Undefined for an unreadable file. */
export async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const meter = new Meter();
  try {
    await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), meter.resume());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return { bytes: meter.bytes, sha256: meter.hash.digest('hex') };
}

/** Counts and hashes what passes through it. */
class Meter extends Transform {
  readonly hash = createHash('sha256');
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, data: Buffer) => void) {
    this.bytes += chunk.byteLength;
    this.hash.update(chunk);
    done(null, chunk);
  }
}
