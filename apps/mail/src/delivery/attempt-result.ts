import type { SpoolEntry } from '../spool/spool-entry';
import type { ClaimedDelivery } from './claimed-delivery';
import type { DeliveryResult } from './judge-result';

export type DeliveryRoute = 'capture' | 'relay' | 'direct' | 'local';

/** The end of an attempt. */
export interface AttemptResult {
  readonly delivery: ClaimedDelivery;
  readonly result: DeliveryResult;
  readonly route: DeliveryRoute;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Local delivery: what appears in the spool together with the state `sent`. */
  readonly spool: SpoolEntry | null;
}
