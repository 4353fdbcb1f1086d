import type { Address } from '@dak/formats/rfc5322';

import type { MessageKind, MessageReading } from '../receiving/reading/message-reading';
import { readMessage } from '../receiving/reading/read-message';

/** How Dak reads a message, as one JSON object. Absent values are null, never missing. */
export interface Inspection {
  file: string;
  /** Without brackets. */
  message_id: string | null;
  in_reply_to: string | null;
  references: string[];
  from: InspectedAddress[];
  to: InspectedAddress[];
  cc: InspectedAddress[];
  subject: string;
  /** RFC 3339 UTC. */
  date: string | null;
  /** The plain text body as it came; `text_new` is there for messages with nothing but HTML, too. */
  text: string | null;
  /** The HTML body as it came, not sanitized. */
  html: string | null;
  text_new: string | null;
  attachments: InspectedAttachment[];
  /** Leaf parts in order, also those of attached messages; sizes and hashes are of the decoded bytes. */
  parts: InspectedPart[];
  kind: MessageKind;
  dsn: InspectedDelivery[];
  feedback: { type: string; recipients: string[] } | null;
}

export interface InspectedAddress {
  email: string;
  name: string;
}

export interface InspectedAttachment {
  filename: string | null;
  content_type: string;
  size_bytes: number;
  sha256: string;
  content_id: string | null;
  disposition: 'attachment' | 'inline';
}

export interface InspectedPart {
  path: string;
  content_type: string;
  charset: string | null;
  size_bytes: number;
  sha256: string;
}

export interface InspectedDelivery {
  recipient: string | null;
  action: string;
  status: string | null;
  smtp_code: number | null;
  hard: boolean;
  reason: string;
}

/** Parses a raw message with the inbound pipeline's code and describes the result. Never throws. */
export function inspectMessage(file: string, raw: Uint8Array): Inspection {
  const reading = readMessage(raw);
  return {
    file,
    message_id: reading.messageId,
    in_reply_to: reading.thread.inReplyTo,
    references: reading.thread.references,
    from: reading.from.map(inspectAddress),
    to: reading.to.map(inspectAddress),
    cc: reading.cc.map(inspectAddress),
    subject: reading.subject,
    date: reading.date,
    text: reading.isTextDerived ? null : reading.text,
    html: reading.html,
    text_new: reading.textNew,
    attachments: reading.attachments.map(inspectAttachment),
    parts: reading.parts.map(({ path, contentType, charset, sizeBytes, sha256 }) => ({
      path,
      content_type: contentType,
      charset,
      size_bytes: sizeBytes,
      sha256,
    })),
    kind: reading.kind,
    dsn: reading.deliveryStatus.map(({ recipient, action, status, smtpCode, hard, reason }) => ({
      recipient,
      action,
      status,
      smtp_code: smtpCode,
      hard,
      reason,
    })),
    feedback: reading.feedback && {
      type: reading.feedback.type,
      recipients: reading.feedback.recipients,
    },
  };
}

function inspectAddress({ address, name }: Address): InspectedAddress {
  return { email: address, name };
}

function inspectAttachment(attachment: MessageReading['attachments'][number]): InspectedAttachment {
  return {
    filename: attachment.filename,
    content_type: attachment.contentType,
    size_bytes: attachment.sizeBytes,
    sha256: attachment.sha256,
    content_id: attachment.contentId,
    disposition: attachment.disposition,
  };
}
