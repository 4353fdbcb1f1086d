import type { Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';

export interface ConversationDeps {
  database: Database;
  clock: Clock;
  /** Signs cursors; the same on every replica. */
  cursorKey: Uint8Array;
  /** Where the raw messages are. */
  blobs: BlobStore;
}
