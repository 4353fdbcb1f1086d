import type { Address, HeaderField } from '@dak/formats/rfc5322';

/** What sort of sender is behind a message: a person, a machine that answers, a list, or one of the three machine-readable reports. */
export const MESSAGE_KINDS = ['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/**
 * Everything Dak understands of one raw message. Plain objects, strings, numbers and byte arrays only: a reading
 * crosses a worker thread by structured clone and can be stored as JSON once the bytes are taken out.
 */
export interface MessageReading {
  kind: MessageKind;
  /** False where an automatic answer could loop or annoy (RFC 3834 §2): reports, lists, automatic mail, no usable sender. */
  mayAutoReply: boolean;

  /** msg-id without angle brackets; null when the message has none. */
  messageId: string | null;
  subject: string;
  /** RFC 3339 UTC; null when absent or unreadable. */
  date: string | null;
  from: Address[];
  sender: Address[];
  replyTo: Address[];
  to: Address[];
  cc: Address[];
  bcc: Address[];
  /** All header fields of the message in order, unfolded, still encoded (RFC 2047). */
  headers: HeaderField[];

  thread: ThreadFacts;

  /** The chosen plain text body, or the text made from the HTML body when there is no other; null when the message has no text at all. */
  text: string | null;
  /** True when `text` was made from the HTML body. */
  isTextDerived: boolean;
  /** The chosen HTML body as it came: never show it, show `htmlSafe`. */
  html: string | null;
  /** `html` after sanitizing: `cid:` references kept, remote images switched off. */
  htmlSafe: string | null;
  /** The author's new text, without quoted mail; never empty unless `text` is. */
  textNew: string | null;
  /** The HTML counterpart of `textNew`, sanitized; null when there is no HTML body. */
  htmlNew: string | null;
  extraction: Extraction | null;
  /** One line, at most 200 characters (Unicode code points) of the new text. */
  preview: string;

  /** Leaf parts in order, going down into message/rfc822. */
  parts: PartFacts[];
  attachments: AttachmentReading[];

  /** One entry per recipient that a delivery status report speaks of; empty for other kinds. */
  deliveryStatus: DeliveryStatusReading[];
  /** The report about the original message; null for other kinds. */
  reportedMessage: ReportedMessage | null;
  /** The complaint (RFC 5965); null for other kinds. */
  feedback: FeedbackReading | null;
  /** The disposition notification (RFC 8098); null for other kinds. */
  disposition: DispositionReading | null;
  /** RFC 2919 list identifier without angle brackets, lower case; null when the message names none. */
  listId: string | null;

  /** Bytes of the raw message. */
  sizeBytes: number;
  /** Limits and damage met while reading: the parser's words and `reading_failed`. */
  defects: string[];
}

/** The facts for threading: RFC 5322 §3.6.4 fields, and Outlook's equivalents. */
export interface ThreadFacts {
  messageId: string | null;
  /** The first msg-id of In-Reply-To, without brackets; the only one that may be trusted. */
  inReplyTo: string | null;
  /** msg-ids without brackets, oldest first. */
  references: string[];
  /** Lower-case hexadecimal of the first 22 bytes of Thread-Index, which all messages of an Outlook thread have in common; null when absent or malformed. */
  threadIndexRoot: string | null;
  /** RFC 5256 §2.1 base subject, widened by the localized reply prefixes. */
  baseSubject: string;
  /** True when a reply prefix ("Re:", "AW:", …) was taken off the subject; a forward starts its own thread. */
  isReplySubject: boolean;
  /** Distinct addresses of From, Sender, Reply-To, To and Cc, lower case, in order of appearance. */
  participants: string[];
}

export interface Extraction {
  /** Which rule found the border of the quoted mail; `none` when the whole body is new. */
  method: string;
  /** 0 to 1. */
  confidence: number;
  /** Language of the attribution line that was recognized (BCP 47 primary subtag); null when none was. */
  language: string | null;
}

export interface PartFacts {
  /** "1", "2.1": see `Part.path` of the parser. */
  path: string;
  contentType: string;
  charset: string | null;
  /** Decoded bytes, before charset conversion. */
  sizeBytes: number;
  /** Lower-case hexadecimal SHA-256 of these bytes. */
  sha256: string;
}

export interface AttachmentReading {
  filename: string | null;
  contentType: string;
  disposition: 'attachment' | 'inline';
  /** Without angle brackets. */
  contentId: string | null;
  sizeBytes: number;
  /** Lower-case hexadecimal SHA-256 of `content`. */
  sha256: string;
  content: Uint8Array;
  /** Path of the part it comes from. */
  path: string;
}

/** RFC 3464 §2.3.3, and `unknown` where a non-standard report does not say. */
export type DeliveryAction =
  'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'unknown';

export interface DeliveryStatusReading {
  /** The address as the sender used it when the report tells, else the final one; null when the report names none. */
  recipient: string | null;
  action: DeliveryAction;
  /** RFC 3463 enhanced status code ("5.1.1"); null when the report has none. */
  status: string | null;
  /** The reply code of the remote server (550); null when the report has none. */
  smtpCode: number | null;
  /** True when a later attempt is pointless because the address or its domain does not exist. */
  hard: boolean;
  /** One word for the cause: `userunknown`, `mailboxfull`, `expired`, …; see `BOUNCE_REASONS` of `@dak/formats/dsn`. */
  reason: string;
  finalRecipient: string | null;
  originalRecipient: string | null;
  remoteMta: string | null;
  reportingMta: string | null;
  diagnosticCode: string | null;
}

export interface ReportedMessage {
  /** Message-ID of the message that the report is about, without brackets. */
  messageId: string | null;
  /** RFC 3464 §2.2.1 Original-Envelope-Id, our own handle when we asked for the report. */
  envelopeId: string | null;
  subject: string | null;
  from: string | null;
  to: string[];
}

export interface FeedbackReading {
  /** RFC 5965 §3.1 Feedback-Type: `abuse`, `fraud`, `opt-out`, `not-spam`, …. */
  type: string;
  /** Addresses that complained, if the report names them. */
  recipients: string[];
  userAgent: string | null;
  originalMailFrom: string | null;
  sourceIp: string | null;
  arrivalDate: string | null;
}

export interface DispositionReading {
  finalRecipient: string | null;
  originalMessageId: string | null;
  /** RFC 8098 §3.2.6.2 disposition type: `displayed`, `deleted`, `processed`, `dispatched`, …. */
  type: string;
  automatic: boolean;
}
