import type { Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';

export interface RuleDeps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Signs cursors; the same on every replica. */
  readonly cursorKey: Uint8Array;
}
