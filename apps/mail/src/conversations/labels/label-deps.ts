import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { WithTenant } from '../../db/prisma-tenant';

export interface LabelDeps {
  database: Database;
  withTenant: WithTenant;
  clock: Clock;
  /** Signs cursors; the same on every replica. */
  cursorKey: Uint8Array;
}
