import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidError } from '@dak/kernel';
import tar from 'tar-stream';
import yauzl from 'yauzl';
import { archiveEntry } from './archive-entry';
import {
  MAX_MESSAGE_BYTES,
  NOT_MAIL,
  TOO_LARGE,
  looksLikeMail,
  type ImportItem,
} from './import-item';
import { mboxMessages } from './mbox-messages';

/** Files of one archive. */
const MAX_ENTRIES = 2_000_000;
/** Unpacked octets for each packed one; deflate reaches 1032 on zeros, mail hardly 20. */
const MAX_RATIO = 150;
/** Below this the ratio says nothing. */
const RATIO_FREE_BYTES = 64 * 1024 * 1024;

/** The messages of a tar stream, plain or gzipped, in constant memory. @throws InvalidError */
export async function* tarMessages(source: AsyncIterable<Uint8Array>): AsyncGenerator<ImportItem> {
  const extract = tar.extract();
  const budget = new UnpackBudget();
  const input = Readable.from(await gunzipped(source, budget));
  input.on('error', (error) => extract.destroy(error));
  input.pipe(extract);
  let entries = 0;
  try {
    for await (const entry of extract) {
      const { name, type, size } = entry.header;
      if ((entries += 1) > MAX_ENTRIES) throw tooManyEntries();
      if (type !== 'file' && type !== 'contiguous-file') {
        entry.resume();
        continue;
      }
      yield* fileMessages(name, size ?? 0, entry as AsyncIterable<Uint8Array>);
      entry.resume();
    }
  } catch (error) {
    throw error instanceof InvalidError ? error : damaged('tar', error);
  } finally {
    input.destroy();
  }
}

/**
 * The messages of a zip. Its directory stands at its end, so the stream is first laid into a file of
 * `temporaryFolder`, which is removed afterwards. @throws InvalidError
 */
export async function* zipMessages(
  source: AsyncIterable<Uint8Array>,
  temporaryFolder: string,
): AsyncGenerator<ImportItem> {
  const folder = await mkdtemp(join(temporaryFolder, 'dak-import-'));
  try {
    const path = join(folder, 'archive.zip');
    const packedBytes = await writeFile(path, source);
    const zip = await yauzl.openPromise(path, {
      lazyEntries: true,
      autoClose: false,
      decodeStrings: false,
    });
    const budget = new UnpackBudget(packedBytes);
    let entries = 0;
    try {
      for await (const entry of zip.eachEntry()) {
        if ((entries += 1) > MAX_ENTRIES) throw tooManyEntries();
        const name = entryName(entry);
        if (archiveEntry(name).kind === 'ignored') continue;
        if (!entry.canDecodeFileData()) {
          yield { failure: 'The file is encrypted or packed in a way that cannot be read.' };
          continue;
        }
        const content = await zip.openReadStreamPromise(entry);
        yield* fileMessages(name, entry.uncompressedSize, limited(content, budget));
        content.destroy();
      }
    } finally {
      zip.close();
    }
  } catch (error) {
    throw error instanceof InvalidError ? error : damaged('zip', error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* fileMessages(
  path: string,
  size: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<ImportItem> {
  const entry = archiveEntry(path);
  switch (entry.kind) {
    case 'ignored':
      return;
    case 'refused':
      yield { failure: entry.reason };
      return;
    case 'mbox':
      yield* mboxMessages(content, entry.labels);
      return;
    case 'message': {
      if (size > MAX_MESSAGE_BYTES) {
        yield TOO_LARGE;
        return;
      }
      const raw = await gathered(content);
      if (raw === null) yield TOO_LARGE;
      else if (raw.length > 0) yield looksLikeMail(raw) ? { raw, ...entry } : NOT_MAIL;
    }
  }
}

/** All bytes, or null when they are more than a message may have. */
export async function gathered(content: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.byteLength;
    if (bytes > MAX_MESSAGE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Notices an archive that unpacks to far more than mail can. */
class UnpackBudget {
  #unpacked = 0;
  constructor(public packed = 0) {}

  add(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > RATIO_FREE_BYTES && this.#unpacked > this.packed * MAX_RATIO) {
      throw new InvalidError(
        `The archive unpacks to more than ${MAX_RATIO} times its size: send its files uncompressed.`,
        'archive_bomb',
      );
    }
  }
}

async function* limited(
  content: AsyncIterable<Uint8Array>,
  budget: UnpackBudget,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    budget.add(chunk.byteLength);
    yield chunk;
  }
}

async function gunzipped(
  source: AsyncIterable<Uint8Array>,
  budget: UnpackBudget,
): Promise<AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  const whole = (async function* () {
    for (let next = first; next.done !== true; next = await iterator.next()) {
      budget.packed += next.value.byteLength;
      yield next.value;
    }
  })();
  const isGzip = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b;
  if (!isGzip) return whole;
  const packed = Readable.from(whole);
  const gunzip = createGunzip();
  packed.on('error', (error) => gunzip.destroy(error));
  return limited(packed.pipe(gunzip), budget);
}

async function writeFile(path: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of source) {
      await file.writeFile(chunk);
      bytes += chunk.byteLength;
    }
  } finally {
    await file.close();
  }
  return bytes;
}

/** Undecoded, because one odd name must not refuse the whole archive. */
function entryName(entry: yauzl.Entry): string {
  return Buffer.from(entry.fileNameRaw).toString('utf8');
}

function tooManyEntries(): InvalidError {
  return new InvalidError(
    `The archive has more than ${MAX_ENTRIES} files: send it in parts.`,
    'too_many_files',
  );
}

function damaged(kind: string, cause: unknown): InvalidError {
  const detail = cause instanceof Error ? ` (${cause.message.replace(/\.+$/, '')})` : '';
  return new InvalidError(
    `The ${kind} cannot be read${detail}: it is damaged or cut off. Send it again.`,
    'damaged_archive',
  );
}
