import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';

export interface MailboxDeps {
  database: Database;
  clock: Clock;
  /** Signs cursors; the same on every replica. */
  cursorKey: Uint8Array;
}
