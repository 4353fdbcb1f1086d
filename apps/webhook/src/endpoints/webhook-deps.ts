import type { Clock } from '@dak/kernel';
import type { Allowance } from '@dak/platform/guarded-http';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { Sealing } from '../secrets/sealing';

/** What operations that people ask for work with. */
export interface WebhookDeps {
  database: Database;
  clock: Clock;
  cursorKey: Uint8Array;
  sealing: Sealing;
  allowance: Allowance;
  visibility: VisibilityClient;
  /** What people set for these endpoints has changed, or something of them has become due. */
  onChanged: (endpointIds: readonly string[]) => void;
}
