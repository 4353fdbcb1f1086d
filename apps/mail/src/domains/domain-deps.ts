import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { TxtAnswer } from './domain';

export interface DomainDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Signs cursors; the same on every replica. */
  readonly cursorKey: Uint8Array;
  /** Asks the DNS; never rejects, and answers within seconds. */
  readonly lookupTxt: (name: string) => Promise<TxtAnswer>;
}
