import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { readFile, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import { flushData, flushFolder, isMissing } from './durable-files';

/** A blob whose file is written and not flushed. */
export interface JournaledBlob {
  organizationId: string;
  /** Of `content`; 64 lower-case hexadecimal digits. */
  sha256: string;
  content: Uint8Array;
}

export interface BlobJournalOptions {
  /** Exists, durably. */
  folder: string;
  /** Makes the files of the blobs durable, after which the journal may forget them. */
  flush: (blobs: readonly Omit<JournaledBlob, 'content'>[]) => Promise<void>;
  /** Writes the files that are absent or damaged. They need not be durable yet. */
  restore: (blobs: readonly JournaledBlob[]) => void;
  /** A segment ends when it has so many octets. @default 32 MiB */
  segmentBytes?: number;
  /** Or so many milliseconds after its first blob. @default 30000 */
  segmentMs?: number;
  /** Blobs could not be flushed; the journal keeps them, and the next start tries again. */
  onError?: (error: unknown) => void;
}

interface Segment {
  file: number;
  path: string;
  inode: number;
  bytes: number;
  blobs: Omit<JournaledBlob, 'content'>[];
  isDue: boolean;
  timer: NodeJS.Timeout;
}

const SEGMENT_BYTES = 32 * 1024 * 1024;
const SEGMENT_MS = 30_000;
/** Ended segments whose blobs are being flushed; with more, whoever writes waits. */
const MOST_ENDED = 3;
const ID_BYTES = 16;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;
const HEADER_BYTES = ID_BYTES + HASH_BYTES + LENGTH_BYTES;
const RECOVERED = '.recovered';

/**
 * A write-ahead log of small blobs: many are made durable by one flush of one file, and the flushes of
 * their own files and folders are done later, together, when most of them are on disk anyway. What
 * {@link BlobJournal.recover} finds of a process that is gone is written anew where it is missing.
 *
 * A record is organization (16 octets), SHA-256 (32), length (4, big-endian) and content; a torn one
 * at the end does not match its hash.
 */
export class BlobJournal {
  readonly #options: Required<BlobJournalOptions>;
  readonly #appends: GroupCommit<readonly JournaledBlob[], void>;
  #current: Segment | null = null;
  /** Flushes of ended segments, one after the other; never rejects. */
  #ending: Promise<void> = Promise.resolve();
  #ended = 0;

  constructor(options: BlobJournalOptions) {
    this.#options = {
      ...{ segmentBytes: SEGMENT_BYTES, segmentMs: SEGMENT_MS, onError: () => undefined },
      ...options,
    };
    this.#appends = createGroupCommit(async (groups) => {
      await this.#write(groups.flat());
      return groups.map(() => undefined);
    });
  }

  /** Resolves when the blobs, whose files are there already, outlive a crash of the machine. */
  async append(blobs: readonly JournaledBlob[]): Promise<void> {
    if (blobs.length > 0) await this.#appends.submit(blobs);
  }

  /** Flushes all blobs and forgets them. */
  async checkpoint(): Promise<void> {
    await this.#appends.idle();
    this.#endSegment();
    await this.#ending;
  }

  /**
   * Restores what is in journals, also in those of other processes, which notice. They are flushed and
   * forgotten afterwards, without anybody waiting.
   */
  async recover(): Promise<void> {
    const { folder, restore } = this.#options;
    for (const name of await readdir(folder)) {
      const found = join(folder, name);
      // Under another name its process cannot take for durable what comes in after this was read.
      const path = name.endsWith(RECOVERED) ? found : found + RECOVERED;
      try {
        if (path !== found) await rename(found, path);
        const blobs = readRecords(await readFile(path));
        restore(blobs);
        this.#forget(path, blobs);
      } catch (error) {
        // Another process recovers it.
        if (!isMissing(error)) throw error;
      }
    }
  }

  async #write(blobs: readonly JournaledBlob[]): Promise<void> {
    if (this.#ended > MOST_ENDED) await this.#ending;
    const segment = (this.#current ??= await this.#openSegment());
    segment.blobs.push(...blobs.map(({ organizationId, sha256 }) => ({ organizationId, sha256 })));
    const bytes = Buffer.concat(blobs.flatMap((blob) => [headerOf(blob), blob.content]));
    try {
      for (let at = 0; at < bytes.byteLength;) at += writeSync(segment.file, bytes, at);
      await flushData(segment.file);
    } catch (error) {
      // What is torn in the middle would hide what follows.
      this.#endSegment();
      throw error;
    }
    segment.bytes += bytes.byteLength;
    const isOurs = statSync(segment.path, { throwIfNoEntry: false })?.ino === segment.inode;
    // A process that has just started took it over, perhaps before this was written.
    if (!isOurs) await this.#options.flush(blobs);
    if (!isOurs || segment.isDue || segment.bytes >= this.#options.segmentBytes) this.#endSegment();
  }

  async #openSegment(): Promise<Segment> {
    const { folder, segmentMs } = this.#options;
    const path = join(folder, randomUUID());
    const file = openSync(path, 'ax', 0o600);
    await flushFolder(folder);
    const segment: Segment = {
      ...{ file, path, inode: fstatSync(file).ino, bytes: 0, blobs: [], isDue: false },
      timer: setTimeout(() => {
        segment.isDue = true;
        void this.#appends.idle().then(() => {
          if (this.#current === segment) this.#endSegment();
        });
      }, segmentMs).unref(),
    };
    return segment;
  }

  /** Nothing of it may be under way. */
  #endSegment(): void {
    const segment = this.#current;
    if (segment === null) return;
    this.#current = null;
    clearTimeout(segment.timer);
    closeSync(segment.file);
    this.#forget(segment.path, segment.blobs);
  }

  #forget(path: string, blobs: readonly Omit<JournaledBlob, 'content'>[]): void {
    this.#ended += 1;
    this.#ending = this.#ending.then(async () => {
      try {
        await this.#options.flush(blobs);
        await unlink(path);
      } catch (error) {
        if (!isMissing(error)) this.#options.onError(error);
      }
      this.#ended -= 1;
    });
  }
}

function headerOf({ organizationId, sha256, content }: JournaledBlob): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(organizationId.replaceAll('-', ''), 0, 'hex');
  header.write(sha256, ID_BYTES, 'hex');
  header.writeUInt32BE(content.byteLength, ID_BYTES + HASH_BYTES);
  return header;
}

function readRecords(bytes: Buffer): JournaledBlob[] {
  const blobs: JournaledBlob[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.byteLength;) {
    const start = at + HEADER_BYTES;
    const end = start + bytes.readUInt32BE(at + ID_BYTES + HASH_BYTES);
    if (end > bytes.byteLength) break;
    const content = bytes.subarray(start, end);
    const sha256 = bytes.toString('hex', at + ID_BYTES, at + ID_BYTES + HASH_BYTES);
    if (createHash('sha256').update(content).digest('hex') !== sha256) break;
    blobs.push({ organizationId: uuidAt(bytes, at), sha256, content });
    at = end;
  }
  return blobs;
}

function uuidAt(bytes: Buffer, at: number): string {
  return bytes
    .toString('hex', at, at + ID_BYTES)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
