import type { BlobStore } from '@dak/platform/blobs';

export interface RawCache {
  get(organizationId: string, sha256: string): Promise<Buffer>;
  /** Bytes that lie in the blob store and will be asked for soon. */
  keep(organizationId: string, sha256: string, raw: Buffer): void;
}

const MAX_ENTRIES = 64;
/** Octets of a message that is kept; with the number of entries this bounds the memory. */
const MAX_KEPT_BYTES = 256 * 1024;

/** Raw messages that several recipients need at about the same time are read once, those just written not at all. */
export function createRawCache(blobs: Pick<BlobStore, 'get'>): RawCache {
  const entries = new Map<string, Promise<Buffer>>();
  const add = (key: string, reading: Promise<Buffer>) => {
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value!);
    entries.set(key, reading);
  };
  return {
    get(organizationId, sha256) {
      const key = keyOf(organizationId, sha256);
      const known = entries.get(key);
      if (known !== undefined) return known;
      const reading = blobs.get(organizationId, sha256);
      reading.catch(() => entries.delete(key));
      add(key, reading);
      return reading;
    },
    keep(organizationId, sha256, raw) {
      if (raw.length <= MAX_KEPT_BYTES) add(keyOf(organizationId, sha256), Promise.resolve(raw));
    },
  };
}

function keyOf(organizationId: string, sha256: string): string {
  return `${organizationId} ${sha256}`;
}
