import { uuidv7 } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';

/** Mail that was removed lately. */
export interface RemovedMail {
  id: string;
  conversationId: string;
  /** Null when the whole conversation is gone. */
  messageId: string | null;
}

/** Who keeps mail: the mail service. Calls work for a while and say whether there is more. */
export interface MailKeeper {
  /** @param before milliseconds since the epoch; null = mail of any age stays */
  removeExpired(
    organizationId: string,
    before: number | null,
    pace: Pace,
  ): Promise<{ messages: number; conversations: number; mailboxes: number; more: boolean }>;
  listRemoved(organizationId: string): Promise<RemovedMail[]>;
  acknowledgeRemoved(organizationId: string, ids: readonly string[]): Promise<void>;
  sweepBlobs(
    organizationId: string,
    options: { isWhole: boolean; forgetsJournals: boolean },
  ): Promise<{ blobs: number; bytes: number; more: boolean }>;
}

/** Beside the requests of people, or as fast as it goes. */
export type Pace = 'gentle' | 'fast';

/** Time limit of one call, which may walk over all references of a large organization. */
const WITHIN_MS = 900_000;

/** For calls that remove expired data. */
export function upkeepCall(): CallOptions {
  return { principal: null, requestId: `upkeep-${uuidv7()}`, deadline: Date.now() + WITHIN_MS };
}
