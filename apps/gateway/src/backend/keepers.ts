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

/** Who keeps what events say: webhooks, streams, the log. */
export interface EventKeeper {
  /** @param before milliseconds since the epoch; null = events of any age stay */
  forget(
    organizationId: string,
    before: number | null,
    removed: readonly RemovedMail[],
  ): Promise<{ more: boolean }>;
  /** Reads much for it: asked once a day. */
  readonly isSlow?: boolean;
}

export interface Erased {
  rows: number;
  blobs: number;
  bytes: number;
  more: boolean;
}

/** Who keeps anything of an organization. */
export type EraseOrganization = (organizationId: string) => Promise<Erased>;

/** What a service removes of what it keeps. */
export interface Keepers {
  mail?: MailKeeper;
  events: readonly EventKeeper[];
  erasers: readonly EraseOrganization[];
}
