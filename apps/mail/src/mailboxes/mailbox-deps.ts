import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { MailModels } from '../db/models';

export interface MailboxDeps {
  database: Database;
  models: MailModels;
  clock: Clock;
  /** Signs cursors; the same on every replica. */
  cursorKey: Uint8Array;
}
