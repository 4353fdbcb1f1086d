import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, read as readCallback, statSync, writeSync } from 'node:fs';
import { readFile, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StorageUnavailableError } from '@dak/kernel';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import { flushData, flushFolder, isMissing, unlessMissing } from './durable-files';

/** A blob whose file is written and not flushed. */
export interface JournaledBlob {
  organizationId: string;
  /** SHA-256 of `content`; 64 lower-case hexadecimal digits. */
  sha256: string;
  content: Uint8Array;
}

export interface BlobJournalOptions {
  /** Exists, durably. */
  folder: string;
  /** Makes the files of the blobs durable, after which the journal may forget them. */
  flush: (blobs: readonly Omit<JournaledBlob, 'content'>[]) => Promise<void>;
  /**
   * Writes all files again, each into a new one, and makes them durable: after a flush that failed, the system takes
   * lost data as written, and another flush of the same file succeeds.
   */
  rewrite: (blobs: readonly JournaledBlob[]) => Promise<void>;
  /** Writes the files that are absent or damaged. They need not be durable yet. */
  restore: (blobs: readonly JournaledBlob[]) => Promise<void>;
  /** Octets after which a segment ends. @default 32 MiB */
  segmentBytes?: number;
  /** Milliseconds after its first blob when a segment ends. @default 30000 */
  segmentMs?: number;
  /**
   * Milliseconds from the end of a segment until its blobs are flushed: the system writes what has
   * changed after some 30 seconds on its own, and then little is left to do. @default 60000
   */
  settleMs?: number;
  /** Milliseconds after blobs could not be rewritten until it is tried again. @default 5000 */
  retryMs?: number;
  /** Milliseconds that whoever writes waits at most for room while blobs cannot be flushed. @default 4000 */
  crowdedMs?: number;
  /** Blobs could not be flushed; the journal keeps them until they are rewritten. */
  onError?: (error: unknown) => void;
}

/** A file that is there to be written from its beginning. */
interface SegmentFile {
  file: number;
  path: string;
  inode: number;
  /** Octets that have their place on the disk: to write there changes nothing but them. */
  allocated: number;
}

interface Segment extends SegmentFile {
  /** Tells its records from those that the file had before. */
  mark: Buffer;
  /** Where the next record goes. */
  end: number;
  blobs: Omit<JournaledBlob, 'content'>[];
  isDue: boolean;
  timer: NodeJS.Timeout;
}

const SEGMENT_BYTES = 32 * 1024 * 1024;
const SEGMENT_MS = 30_000;
const SETTLE_MS = 60_000;
/** A file grows so much at a time: only a flush after that has to wait for the file system's own journal. */
const GROWTH_BYTES = 1024 * 1024;
/** Ended segments that settle; with more, the oldest is flushed at once. */
const MOST_SETTLING = 6;
/** Ended segments; with more, whoever writes waits. */
const MOST_ENDED = 9;
const MOST_SPARES = 2;
const CROWDED_EVERY_MS = 10;
/** Twice that, for those who came while others waited, is less than any caller's patience. */
const CROWDED_MS = 4_000;
/** After blobs could not be rewritten. */
const RETRY_MS = 5_000;
const MARK_BYTES = 8;
const ID_BYTES = 16;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;
const HEADER_BYTES = MARK_BYTES + ID_BYTES + HASH_BYTES + LENGTH_BYTES;
const RECOVERED = '.recovered';
const SEGMENT_NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.recovered)?$/;

/**
 * A write-ahead log of small blobs: many are made durable by one flush of one file, and the flushes of
 * their own files and folders are done later, together, when most of them are on disk anyway. What
 * {@link BlobJournal.recover} finds of a dead process is rewritten where it is missing.
 *
 * A segment starts with a mark of 8 octets, zero when it is empty. A record is the mark, organization
 * (16), SHA-256 (32), length (4, big-endian) and content; a torn one at the end does not match its hash,
 * and remains of an earlier use of the file have a different mark.
 */
export class BlobJournal {
  readonly #options: Required<BlobJournalOptions>;
  readonly #appends: GroupCommit<readonly JournaledBlob[], void>;
  #current: Segment | null = null;
  /** Files of ended segments, reused because their disk space is already allocated. */
  readonly #spares: SegmentFile[] = [];
  /** Ends the waiting of segments that settle. */
  #hurry = new AbortController();
  /** What ends segments, one after the other; never rejects. */
  #ending: Promise<void> = Promise.resolve();
  #ended = 0;
  /** Those segments whose blobs could neither be flushed nor rewritten yet. */
  readonly #failed = new Set<Segment>();
  /** Somebody cannot write before a segment has been flushed. */
  #isCrowded = false;

  constructor(options: BlobJournalOptions) {
    this.#options = {
      segmentBytes: SEGMENT_BYTES,
      segmentMs: SEGMENT_MS,
      settleMs: SETTLE_MS,
      retryMs: RETRY_MS,
      crowdedMs: CROWDED_MS,
      onError: () => undefined,
      ...options,
    };
    this.#appends = createGroupCommit(async (groups) => {
      await this.#write(groups.flat());
      return groups.map(() => undefined);
    });
  }

  /**
   * Resolves when the blobs, whose files are there already, outlive a crash of the machine.
   * @throws StorageUnavailableError when what was written before could not be flushed for a while
   */
  async append(blobs: readonly JournaledBlob[]): Promise<void> {
    if (blobs.length > 0) await this.#appends.submit(blobs);
  }

  /** Flushes all blobs that were appended before, and forgets them. @throws Error when that fails */
  async checkpoint(): Promise<void> {
    if (this.#current !== null) this.#current.isDue = true;
    await this.#appends.submit([]);
    await this.#endWithoutSettling();
    if (this.#failed.size > 0) throw new Error('Blobs could not be flushed to their files.');
  }

  /**
   * Restores the contents of all journals, also those of other processes, which notice. They are flushed and
   * forgotten afterwards, without anybody waiting.
   */
  async recover(): Promise<void> {
    const { folder, restore, flush } = this.#options;
    for (const name of await readdir(folder)) {
      if (!SEGMENT_NAME.test(name)) continue;
      const found = join(folder, name);
      // Under another name its process cannot take for durable what comes in after this was read.
      const path = name.endsWith(RECOVERED) ? found : found + RECOVERED;
      if (path !== found) await rename(found, path).catch(unlessMissing);
      // Missing when another process, which has just restored it, has also forgotten it.
      const bytes = await readFile(path).catch(unlessMissing);
      if (bytes === undefined) continue;
      const records = readRecords(bytes);
      await restore(records);
      const blobs = records.map(({ organizationId, sha256 }) => ({ organizationId, sha256 }));
      this.#ending = this.#ending.then(async () => {
        try {
          await flush(blobs);
          await unlink(path).catch(unlessMissing);
        } catch (error) {
          this.#options.onError(error);
        }
      });
    }
  }

  /**
   * Flushes and forgets the contents of all segments, also those of other processes, which notice, and
   * removes the files of segments that wait to be used again: they still hold what was in them.
   */
  async forget(): Promise<void> {
    await this.checkpoint();
    await this.recover();
    // The recovered file may be one of this process's segments started since; it settles now.
    await this.#endWithoutSettling();
  }

  async #endWithoutSettling(): Promise<void> {
    this.#hurry.abort();
    this.#hurry = new AbortController();
    await this.#ending;
  }

  async #write(blobs: readonly JournaledBlob[]): Promise<void> {
    if (blobs.length === 0) {
      if (this.#current?.isDue) this.#endSegment();
      return;
    }
    await this.#waitForRoom();
    const segment = (this.#current ??= await this.#openSegment());
    segment.blobs.push(...blobs.map(({ organizationId, sha256 }) => ({ organizationId, sha256 })));
    const records = blobs.flatMap((blob) => [headerOf(segment.mark, blob), blob.content]);
    try {
      this.#extend(segment, Buffer.concat(records));
      await flushData(segment.file);
    } catch (error) {
      // What is torn in the middle would hide what follows.
      this.#endSegment();
      throw error;
    }
    const isOurs = statSync(segment.path, { throwIfNoEntry: false })?.ino === segment.inode;
    // A process that has just started took it over, perhaps before this was written.
    if (!isOurs) await this.#options.flush(blobs);
    if (!isOurs || segment.isDue || segment.end >= this.#options.segmentBytes) this.#endSegment();
  }

  /** @throws StorageUnavailableError when there are too many segments, and some cannot be flushed */
  async #waitForRoom(): Promise<void> {
    const until = performance.now() + this.#options.crowdedMs;
    this.#isCrowded = this.#ended > MOST_ENDED;
    while (this.#ended > MOST_ENDED) {
      // A slow disk only slows down: running flushes still finish.
      const isStuck = this.#failed.size > 0 && performance.now() > until;
      if (isStuck) throw new StorageUnavailableError('Blobs cannot be flushed to their files.');
      await delay(CROWDED_EVERY_MS);
    }
    this.#isCrowded = false;
  }

  #extend(segment: Segment, bytes: Buffer): void {
    const end = segment.end + bytes.byteLength;
    if (end > segment.allocated) {
      const allocated = Math.ceil(end / GROWTH_BYTES) * GROWTH_BYTES;
      writeAt(segment.file, Buffer.alloc(allocated - segment.allocated), segment.allocated);
      segment.allocated = allocated;
    }
    writeAt(segment.file, bytes, segment.end);
    segment.end = end;
  }

  async #openSegment(): Promise<Segment> {
    const { folder, segmentMs } = this.#options;
    const path = join(folder, randomUUID());
    const file = (await this.#reuse(path)) ?? newFile(path);
    const mark = randomBytes(MARK_BYTES);
    const segment: Segment = {
      ...{ ...file, mark, end: 0, blobs: [], isDue: false },
      timer: setTimeout(() => {
        segment.isDue = true;
        // The failure belongs to concurrent writers, who get the error themselves.
        this.#appends.submit([]).catch(() => undefined);
      }, segmentMs).unref(),
    };
    try {
      this.#extend(segment, mark);
      await flushFolder(folder);
      return segment;
    } catch (error) {
      clearTimeout(segment.timer);
      closeSync(file.file);
      await unlink(path).catch(unlessMissing);
      throw error;
    }
  }

  /** Null when there is no file to be used again, or another process has taken it. */
  async #reuse(path: string): Promise<SegmentFile | null> {
    const spare = this.#spares.pop();
    if (spare === undefined) return null;
    try {
      await rename(spare.path, path);
      return { ...spare, path };
    } catch (error) {
      closeSync(spare.file);
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Nothing of it may be under way. */
  #endSegment(): void {
    const segment = this.#current;
    if (segment === null) return;
    this.#current = null;
    clearTimeout(segment.timer);
    this.#ended += 1;
    const { signal } = this.#hurry;
    const settled = performance.now() + this.#options.settleMs;
    this.#ending = this.#ending.then(async () => {
      await this.#settle(settled - performance.now(), signal);
      try {
        await this.#options.flush(segment.blobs);
        await this.#forget(segment);
      } catch (error) {
        this.#options.onError(error);
        await this.#rewrite(segment);
      }
    });
  }

  /** Retries until it succeeds, because only durable blobs may leave the journal. */
  async #rewrite(segment: Segment): Promise<void> {
    try {
      await this.#options.rewrite(readRecords(await readStart(segment)));
      await this.#forget(segment);
      this.#failed.delete(segment);
    } catch (error) {
      this.#failed.add(segment);
      this.#options.onError(error);
      setTimeout(() => {
        this.#ending = this.#ending.then(() => this.#rewrite(segment));
      }, this.#options.retryMs).unref();
    }
  }

  async #forget(segment: Segment): Promise<void> {
    await this.#empty(segment);
    this.#ended -= 1;
  }

  async #settle(ms: number, signal: AbortSignal): Promise<void> {
    while (ms > 0 && this.#ended <= MOST_SETTLING && !this.#isCrowded && !signal.aborted) {
      const step = Math.min(ms, 1_000);
      await delay(step, undefined, { ref: false, signal }).catch(() => undefined);
      ms -= step;
    }
  }

  async #empty({ file, path, inode, allocated }: Segment): Promise<void> {
    writeAt(file, Buffer.alloc(MARK_BYTES), 0);
    await flushData(file);
    if (this.#spares.length < MOST_SPARES) {
      this.#spares.push({ file, path, inode, allocated });
      return;
    }
    closeSync(file);
    await unlink(path).catch(unlessMissing);
  }
}

function newFile(path: string): SegmentFile {
  const file = openSync(path, 'wx+', 0o600);
  return { file, path, inode: fstatSync(file).ino, allocated: 0 };
}

const readFrom = promisify(readCallback);

/** What was written into a segment, also when another process has renamed it. */
async function readStart({ file, end }: Segment): Promise<Buffer> {
  const bytes = Buffer.alloc(end);
  let at = 0;
  while (at < end) {
    const { bytesRead } = await readFrom(file, bytes, at, end - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

function writeAt(file: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.byteLength;) {
    at += writeSync(file, bytes, at, bytes.byteLength - at, position + at);
  }
}

function headerOf(mark: Buffer, { organizationId, sha256, content }: JournaledBlob): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  mark.copy(header);
  header.write(organizationId.replaceAll('-', ''), MARK_BYTES, 'hex');
  header.write(sha256, MARK_BYTES + ID_BYTES, 'hex');
  header.writeUInt32BE(content.byteLength, HEADER_BYTES - LENGTH_BYTES);
  return header;
}

function readRecords(bytes: Buffer): JournaledBlob[] {
  const blobs: JournaledBlob[] = [];
  const mark = bytes.subarray(0, MARK_BYTES);
  if (mark.every((octet) => octet === 0)) return [];
  for (let at = MARK_BYTES; at + HEADER_BYTES <= bytes.byteLength;) {
    const id = at + MARK_BYTES;
    const hash = id + ID_BYTES;
    const start = at + HEADER_BYTES;
    const end = start + bytes.readUInt32BE(start - LENGTH_BYTES);
    if (!bytes.subarray(at, id).equals(mark) || end > bytes.byteLength) break;
    const content = bytes.subarray(start, end);
    const sha256 = bytes.toString('hex', hash, hash + HASH_BYTES);
    if (createHash('sha256').update(content).digest('hex') !== sha256) break;
    blobs.push({ organizationId: uuidAt(bytes, id), sha256, content });
    at = end;
  }
  return blobs;
}

function uuidAt(bytes: Buffer, at: number): string {
  return bytes
    .toString('hex', at, at + ID_BYTES)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
