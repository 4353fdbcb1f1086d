import { setTimeout as delay } from 'node:timers/promises';
import { uuidv7 } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { inSpan } from '@dak/platform/telemetry';
import type { SpoolEntry } from '../../spool/spool-entry';
import type { ClaimedEntry } from '../../spool/spool-store';
import type { MessageReading } from '../reading/message-reading';
import { ReadingNotBegun, type ReadingRequest } from '../reading/reading-pool';
import { contentHash, dedupeKey, importDedupeKey } from './content-identity';
import type { ReadEntry } from './store-inbound';

/**
 * Reads a raw message; rejects for nothing that is in it, and with `ReadingNotBegun` when it was taken back
 * before its turn had come.
 */
export type ReadMessage = (raw: Uint8Array, request?: ReadingRequest) => Promise<MessageReading>;

/** The bytes of an entry, wherever they lie. */
export async function rawOf(blobs: BlobStore, entry: SpoolEntry): Promise<Uint8Array> {
  return entry.raw ?? blobs.get(entry.organizationId, entry.rawSha256!);
}

/** Octets of raw mail that one batch has in memory at a time; one message is read whatever its size. */
const MAX_RAW_BYTES = 8 * 1024 * 1024;

/** Milliseconds that parsed mail waits for the rest of its batch. */
const GATHER_MS = 250;

/**
 * Reads entries of one organization and makes raw messages and attachments durable: piece by piece, so that
 * no more raw mail is in memory than {@link MAX_RAW_BYTES} and one message. Parsed mail is handed over as
 * soon as the rest takes its time.
 * @param signal from then on nothing more is begun
 * @returns groups of parsed entries; entries in no group were not started
 * @throws what reading or storing failed with
 */
export async function* readEntries(
  blobs: BlobStore,
  read: ReadMessage,
  organizationId: string,
  entries: readonly ClaimedEntry[],
  signal: AbortSignal,
): AsyncGenerator<ReadEntry[]> {
  for (const chunk of chunksOf(entries)) {
    if (signal.aborted) return;
    const raws = await Promise.all(chunk.map((entry) => rawOf(blobs, entry)));
    const finished: number[] = [];
    const readings: MessageReading[] = [];
    const running = chunk.map(async ({ flow, traceparent }, index) => {
      const reading = await inSpan(
        'read message',
        { parent: traceparent },
        () => unlessTakenBack(read(raws[index]!, { flow, signal })),
        (result) => result === null,
      );
      if (reading === null) return;
      readings[index] = reading;
      finished.push(index);
    });
    const all = Promise.all(running);
    let isDone = false;
    while (!isDone) {
      isDone = await settlesWithin(all, GATHER_MS);
      const indexes = finished.splice(0).sort((a, b) => byArrival(chunk[a]!, chunk[b]!));
      if (indexes.length === 0) continue;
      yield await storeBlobs(
        blobs,
        organizationId,
        indexes.map((index) => chunk[index]!),
        indexes.map((index) => raws[index]!),
        indexes.map((index) => readings[index]!),
      );
    }
  }
}

/** Null when its turn had not come. */
async function unlessTakenBack(reading: Promise<MessageReading>): Promise<MessageReading | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ReadingNotBegun) return null;
    throw error;
  }
}

function byArrival(a: SpoolEntry, b: SpoolEntry): number {
  return a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1);
}

function chunksOf(entries: readonly ClaimedEntry[]): ClaimedEntry[][] {
  const chunks: ClaimedEntry[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    if (bytes + entry.sizeBytes > MAX_RAW_BYTES) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)!.push(entry);
    bytes += entry.sizeBytes;
  }
  return chunks;
}

/** False when it takes longer. */
async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const isSettled = await Promise.race([
    work.then(() => true),
    delay(milliseconds, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return isSettled;
}

export async function storeBlobs(
  blobs: BlobStore,
  organizationId: string,
  entries: readonly SpoolEntry[],
  raws: readonly Uint8Array[],
  readings: readonly MessageReading[],
  notice: string | null = null,
): Promise<ReadEntry[]> {
  const hashes = await Promise.all(raws.map(contentHash));
  const references = await blobs.putMany(organizationId, [
    // The large ones are there since they came.
    ...raws.filter((_, index) => entries[index]!.rawSha256 === null),
    ...readings.flatMap((reading) => reading.attachments.map(({ content }) => content)),
  ]);
  const stored = references.values();
  return entries.map((entry, index) => {
    const reading = withoutContents(readings[index]!);
    const hash = hashes[index]!;
    return {
      entry,
      messageId: uuidv7(),
      reading,
      rawSha256: entry.rawSha256 ?? stored.next().value!.sha256,
      contentHash: hash.toString('hex'),
      dedupeKey:
        entry.source === 'import'
          ? importDedupeKey(reading.messageId, hash)
          : dedupeKey(reading.messageId, hash),
      notice,
    };
  });
}

const NOTHING = new Uint8Array();

/** The bytes are in the blob store now and need not stay in memory. */
function withoutContents(reading: MessageReading): MessageReading {
  if (reading.attachments.length === 0) return reading;
  return {
    ...reading,
    attachments: reading.attachments.map((one) => ({ ...one, content: NOTHING })),
  };
}
