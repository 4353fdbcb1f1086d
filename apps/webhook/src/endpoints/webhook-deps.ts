import type { Clock } from '@dak/kernel';
import type { Allowance } from '@dak/platform/guarded-http';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { Sealing } from '../secrets/sealing';

/** Dependencies of the operations that clients call. */
export interface WebhookDeps {
  database: Database;
  clock: Clock;
  cursorKey: Uint8Array;
  sealing: Sealing;
  allowance: Allowance;
  visibility: VisibilityClient;
  /** These endpoints were changed, or deliveries for them have become due. */
  onChanged: (endpointIds: readonly string[]) => void;
}
