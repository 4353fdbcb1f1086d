import type { AddressRecord, AttachmentRecord, MessageRecord } from '@dak/contracts/api';
import type { Actor } from '@dak/kernel';
import type { ConversationStatus, Disposition } from '../conversation-row';

/**
 * A message to be stored, with all that its row needs. Times are RFC 3339 UTC with milliseconds
 * (`Date.toISOString`), hashes lower-case hexadecimal; the blobs are already stored.
 */
export interface NewMessage {
  id: string;
  mailboxId: string;
  /** Looked up when it is not given. */
  mailboxAddress?: string;
  conversation: NewMessageConversation;
  direction: MessageRecord['direction'];
  status: MessageRecord['status'];
  /** Null for notes and outbound mail. */
  kind: MessageRecord['kind'];
  from: AddressRecord | null;
  to: readonly AddressRecord[];
  cc: readonly AddressRecord[];
  bcc: readonly AddressRecord[];
  replyTo: readonly AddressRecord[];
  subject: string;
  /** RFC 5256 §2.1. */
  baseSubject: string;
  bodyText: string | null;
  /** Sanitized. */
  bodyHtml: string | null;
  textNew: string | null;
  htmlNew: string | null;
  extraction: MessageRecord['extraction'];
  /** At most 200 characters, one line. */
  preview: string;
  /** msg-ids without angle brackets. */
  messageIdHeader: string | null;
  inReplyTo: string | null;
  references: readonly string[];
  authentication: MessageRecord['authentication'];
  flags: MessageFlags;
  safety: MessageRecord['safety'];
  author: Actor;
  mentions: readonly string[];
  unread: boolean;
  labels: readonly string[];
  rawSha256: string | null;
  sizeBytes: number;
  /** The same mail arriving twice in a mailbox has the same key and is stored once; null = always stored. */
  dedupeKey: Uint8Array | null;
  parserVersion?: number;
  /** Where it stands in the conversation. */
  sortAt: string;
  sendAt: string | null;
  sentAt: string | null;
  receivedAt: string | null;
  attachments: readonly NewAttachment[];
  /** Imported mail does not change the status of a conversation that exists. */
  imported: boolean;
  /** Results of a delivery status notification, per recipient. */
  bounces?: readonly NewBounce[];
  /** A parsed feedback report. */
  complaint?: NewComplaint | null;
  /** W3C trace context, for its events. */
  traceparent?: string | null;
}

/** RFC 3464 §2.3, with our own message where it could be found. */
export interface NewBounce {
  recipient: string;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** Enhanced status code (RFC 3463); empty when the report has none. */
  status: string;
  smtpCode: number | null;
  hard: boolean;
  reason: string;
  bouncedMessageId: string | null;
  deliveryId: string | null;
  /** The delivery was one of a blind copy. */
  blindCopy?: boolean;
}

/** RFC 5965 §3.1. */
export interface NewComplaint {
  feedbackType: string;
  recipients: readonly string[];
  complainedMessageId: string | null;
  /** One of the recipients got a blind copy. */
  blindCopy?: boolean;
}

/** Displayed kinds, and facts needed only to decide about automatic mail. */
export type MessageFlags = Partial<MessageRecord['flags']> & {
  /** An automatic answer could loop or annoy (RFC 3834 §2). */
  no_auto_reply?: boolean;
  /** MAIL FROM:<> (RFC 5321 §4.5.5). */
  empty_reverse_path?: boolean;
};

export type NewMessageConversation =
  | { kind: 'existing'; id: string }
  | {
      kind: 'new';
      id: string;
      /** From `allocateConversationNumbers`. */
      number: number;
      /** The closed conversation that this one continues. */
      linkedConversationId?: string | null;
      departmentId?: string | null;
      /** Instead of the one that the first message leads to (imports). */
      status?: ConversationStatus;
      disposition?: Disposition;
      labels?: readonly string[];
    };

export interface NewAttachment {
  id: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  sha256: string;
  disposition: AttachmentRecord['disposition'];
  contentId: string | null;
}
