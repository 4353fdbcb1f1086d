import type { Readable } from 'node:stream';

/**
 * Immutable bytes, content-addressed per tenant (sha256 of the content; no cross-tenant sharing, so
 * that a tenant cannot learn what another one stores). Drivers: folder now, S3 later. All throw
 * StorageUnavailableError when the disk is full or does not answer.
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
  /**
   * For whoever refers to stored content: called in the transaction of the reference, after it was
   * written and before the commit. Together with {@link removeUnreferenced} no reference is left
   * without its content.
   * @throws UnavailableError when some of it is just being removed; storing it again helps
   */
  requirePresent(organizationId: string, sha256s: Iterable<string>): void;
  /** Stored names that begin with `prefix` (two hexadecimal digits). */
  list(organizationId: string, prefix: string): Promise<string[]>;
  /**
   * Removes the unreferenced candidates. They are set aside first; then
   * `findReferenced` is asked, which must wait for every transaction that was running when it was
   * called and look after that; referenced content is put back, and all of it on failure. A reader finds
   * content that is set aside.
   */
  removeUnreferenced(
    organizationId: string,
    candidates: readonly string[],
    findReferenced: (sha256s: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<BlobReference[]>;
  /** Puts back referenced content that a dead process left set aside. */
  putBack(organizationId: string, sha256s: Iterable<string>): Promise<void>;
  /** Makes journals forget content, so that removed content does not come back or remain there. */
  forgetJournals(): Promise<void>;
  /** Everything of an organization. @returns what was removed */
  removeOrganization(organizationId: string): Promise<{ blobs: number; bytes: number }>;
}

export interface BlobReference {
  /** Lower-case hex. */
  sha256: string;
  sizeBytes: number;
}
