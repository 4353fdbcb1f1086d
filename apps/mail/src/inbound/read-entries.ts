import { uuidv7 } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { MessageReading } from '../reading/message-reading';
import { contentHash, dedupeKey, importDedupeKey } from './content-identity';
import type { SpoolEntry } from './spool-entry';
import type { ReadEntry } from './store-inbound';

/** Reads a raw message; never rejects for what is in it. */
export type ReadMessage = (raw: Uint8Array) => Promise<MessageReading>;

/** The bytes of an entry, wherever they lie. */
export async function rawOf(blobs: BlobStore, entry: SpoolEntry): Promise<Uint8Array> {
  return entry.raw ?? blobs.get(entry.organizationId, entry.rawSha256!);
}

/** Reads entries of one organization and makes raw messages and attachments durable, in one flush. */
export async function readEntries(
  blobs: BlobStore,
  read: ReadMessage,
  organizationId: string,
  entries: readonly SpoolEntry[],
): Promise<ReadEntry[]> {
  const raws = await Promise.all(entries.map((entry) => rawOf(blobs, entry)));
  const readings = await Promise.all(raws.map(read));
  return storeBlobs(blobs, organizationId, entries, raws, readings);
}

export async function storeBlobs(
  blobs: BlobStore,
  organizationId: string,
  entries: readonly SpoolEntry[],
  raws: readonly Uint8Array[],
  readings: readonly MessageReading[],
  notice: string | null = null,
): Promise<ReadEntry[]> {
  const contents = [
    ...raws,
    ...readings.flatMap((reading) => reading.attachments.map(({ content }) => content)),
  ];
  const references = await blobs.putMany(organizationId, contents);
  return entries.map((entry, index) => {
    const reading = withoutContents(readings[index]!);
    const hash = contentHash(raws[index]!);
    return {
      entry,
      messageId: uuidv7(),
      reading,
      rawSha256: references[index]!.sha256,
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
