import type { BlobStore } from '@dak/platform/blobs';

const MAX_ENTRIES = 64;

/** Raw messages that several recipients need at about the same time are read once. */
export function createRawCache(blobs: BlobStore): {
  get(organizationId: string, sha256: string): Promise<Buffer>;
} {
  const entries = new Map<string, Promise<Buffer>>();
  return {
    get(organizationId, sha256) {
      const key = `${organizationId} ${sha256}`;
      const known = entries.get(key);
      if (known !== undefined) return known;
      const reading = blobs.get(organizationId, sha256);
      reading.catch(() => entries.delete(key));
      if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value!);
      entries.set(key, reading);
      return reading;
    },
  };
}
