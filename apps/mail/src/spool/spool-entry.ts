import { uuidv7 } from '@dak/kernel';

export const SPOOL_SOURCES = ['smtp', 'lmtp', 'local', 'import'] as const;
export type SpoolSource = (typeof SPOOL_SOURCES)[number];

/** One received message for one mailbox, not yet stored by the pipeline. */
export interface SpoolEntry {
  readonly organizationId: string;
  readonly id: string;
  readonly mailboxId: string;
  readonly source: SpoolSource;
  /** Queue id of the 250 reply. */
  readonly queueId: string | null;
  /** Reverse path without angle brackets; empty for the null reverse path. */
  readonly mailFrom: string;
  /** The address that led to the mailbox, as the sender wrote it. */
  readonly recipient: string;
  readonly clientAddress: string | null;
  readonly helo: string | null;
  readonly protocol: string | null;
  readonly tls: { readonly cipher: string; readonly version: string } | null;
  /** Null when the bytes are in the blob store, under `rawSha256`. */
  readonly raw: Uint8Array | null;
  /** Lower-case hexadecimal; null when the bytes are in `raw`. */
  readonly rawSha256: string | null;
  readonly sizeBytes: number;
  readonly receivedAt: Date;
  readonly importId: string | null;
  readonly importIndex: number | null;
  readonly unread: boolean;
  readonly labels: readonly string[];
  /** W3C trace context of how it came in; null = no tracing. */
  readonly traceparent: string | null;
}

/** Required fields of an entry; the others default to those of ordinary live mail. */
export type SpoolEntryFacts = Pick<
  SpoolEntry,
  'organizationId' | 'mailboxId' | 'source' | 'recipient' | 'receivedAt'
> &
  Partial<SpoolEntry> & { readonly raw: Uint8Array };

export function spoolEntry(facts: SpoolEntryFacts): SpoolEntry {
  return {
    id: uuidv7(),
    queueId: null,
    mailFrom: '',
    clientAddress: null,
    helo: null,
    protocol: null,
    tls: null,
    rawSha256: null,
    sizeBytes: facts.raw.byteLength,
    importId: null,
    importIndex: null,
    unread: true,
    labels: [],
    traceparent: null,
    ...facts,
  };
}
