import type { Readable } from 'node:stream';

/**
 * Immutable bytes, content-addressed per tenant (sha256 of the content; no cross-tenant sharing, so
 * that a tenant cannot learn what another one stores). Drivers: folder now, S3 later.
 */
export interface BlobStore {
  /** Durable (fsync of file and folder) when it resolves. Storing the same bytes twice is free. */
  put(organizationId: string, content: Uint8Array): Promise<BlobReference>;
  /** Several at once, flushed together; order of the result is the order of `contents`. */
  putMany(organizationId: string, contents: readonly Uint8Array[]): Promise<BlobReference[]>;
  /** @throws DomainError `too_large` once more than `maxBytes` arrived; nothing is kept then. */
  putStream(
    organizationId: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<BlobReference>;
  /** @throws NotFoundError */
  get(organizationId: string, sha256: string): Promise<Buffer>;
  /** @throws NotFoundError */
  stream(organizationId: string, sha256: string): Promise<Readable>;
  has(organizationId: string, sha256: string): Promise<boolean>;
  delete(organizationId: string, sha256: string): Promise<void>;
}

export interface BlobReference {
  /** Lower-case hex. */
  sha256: string;
  sizeBytes: number;
}
