import { createHash } from 'node:crypto';

import { readFeedbackReport, type FeedbackReport } from '@dak/formats/arf';
import { automationSignals } from '@dak/formats/auto-submitted';
import { readDeliveryReport, type DeliveryReport } from '@dak/formats/dsn';
import { htmlToText, sanitizeHtml } from '@dak/formats/html';
import { readDispositionNotification } from '@dak/formats/mdn';
import { extractReply } from '@dak/formats/reply-text';
import { parseMessage, type ParsedMessage } from '@dak/formats/rfc5322';

import { classify } from './classify';
import { failedReading } from './failed-reading';
import type {
  AttachmentReading,
  DeliveryStatusReading,
  DispositionReading,
  Extraction,
  FeedbackReading,
  MessageReading,
  PartFacts,
  ReportedMessage,
} from './message-reading';
import { threadFacts } from './thread-facts';

/** Unicode code points of the preview. */
const PREVIEW_LENGTH = 200;

/**
 * Everything Dak understands of a raw message. Pure; never throws: what cannot be read comes back as
 * `failedReading` with the headers and the raw bytes as an attachment. Contents of attachments may be views of `raw`.
 */
export function readMessage(raw: Uint8Array): MessageReading {
  try {
    return readParsed(parseMessage(raw), raw.byteLength);
  } catch {
    return failedReading(raw);
  }
}

/** Characters of a text that is read the cheap way. */
const MAX_PLAIN_LENGTH = 256 * 1024;

/**
 * What can be understood of a message without its HTML: the text as it stands or between the tags, files, headers. For
 * one that took {@link readMessage} too long. Pure; never throws.
 */
export function readPlainly(raw: Uint8Array): MessageReading {
  try {
    const message = parseMessage(raw);
    const text = message.text?.slice(0, MAX_PLAIN_LENGTH) ?? textBetween(message.html);
    const bodies: Bodies = {
      text,
      isTextDerived: message.text === null && text !== null,
      html: null,
      htmlSafe: null,
      textNew: text,
      htmlNew: null,
      extraction: null,
    };
    return readParsed(message, raw.byteLength, bodies);
  } catch {
    return failedReading(raw);
  }
}

function textBetween(html: string | null): string | null {
  const text = html
    ?.slice(0, MAX_PLAIN_LENGTH)
    .replace(/<[^<>]*>?/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === undefined || text === '' ? null : text;
}

function readParsed(
  message: ParsedMessage,
  sizeBytes: number,
  bodies = readBodies(message.text, message.html),
): MessageReading {
  const automation = automationSignals(message.headers);
  const feedback = readFeedbackReport(message);
  const delivery = feedback === null ? readDeliveryReport(message, bodies.text) : null;
  const disposition = readDispositionNotification(message);
  const kind = classify(
    {
      isFeedback: feedback !== null,
      isDeliveryReport: delivery !== null,
      isDispositionNotification: disposition !== null,
    },
    automation,
  );
  const thread = threadFacts(message);
  return {
    kind,
    mayAutoReply: kind === 'human' && !automation.doNotAutoReply && message.from.length > 0,
    messageId: message.messageId,
    subject: message.subject,
    date: message.date,
    from: message.from,
    sender: message.sender,
    replyTo: message.replyTo,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    headers: message.headers,
    thread,
    ...bodies,
    preview: previewOf(bodies.textNew ?? bodies.text ?? ''),
    parts: message.leaves.map(partFacts),
    attachments: message.attachments.map(attachmentReading),
    deliveryStatus: delivery?.recipients.map((entry) => deliveryStatus(entry, delivery)) ?? [],
    reportedMessage: reportedMessage(delivery, feedback),
    feedback: feedback && feedbackReading(feedback),
    disposition:
      disposition &&
      ({
        finalRecipient: disposition.finalRecipient,
        originalMessageId: disposition.originalMessageId,
        type: disposition.type,
        automatic: disposition.automatic,
      } satisfies DispositionReading),
    listId: automation.list?.id ?? null,
    sizeBytes,
    defects: message.defects,
  };
}

type Bodies = Pick<
  MessageReading,
  'text' | 'isTextDerived' | 'html' | 'htmlSafe' | 'textNew' | 'htmlNew' | 'extraction'
>;

function readBodies(text: string | null, html: string | null): Bodies {
  const reply = extractReply({ text, html });
  const htmlSafe = html === null ? null : sanitizeHtml(html, { remoteImages: 'off' });
  // Most mail quotes nothing: then the sanitized whole is the new part, too.
  const htmlNew =
    reply.html === null || reply.html === html
      ? htmlSafe
      : sanitizeHtml(reply.html, { remoteImages: 'off' });
  const isTextDerived = text === null && reply.text !== null;
  const { method, confidence, language } = reply;
  return {
    text: isTextDerived && html !== null ? htmlToText(html) : text,
    isTextDerived,
    html,
    htmlSafe,
    textNew: reply.text,
    htmlNew,
    extraction:
      reply.text === null ? null : ({ method, confidence, language } satisfies Extraction),
  };
}

function previewOf(text: string): string {
  // A cut is made on code points, so that no half of a surrogate pair is stored.
  const line = text
    .slice(0, PREVIEW_LENGTH * 8)
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length <= PREVIEW_LENGTH ? line : [...line].slice(0, PREVIEW_LENGTH).join('').trim();
}

function partFacts(part: ParsedMessage['root']): PartFacts {
  return {
    path: part.path,
    contentType: part.contentType,
    charset: part.charset,
    sizeBytes: part.content.byteLength,
    sha256: sha256(part.content),
  };
}

function attachmentReading(attachment: ParsedMessage['attachments'][number]): AttachmentReading {
  const { filename, contentType, disposition, contentId, content, path } = attachment;
  return {
    filename,
    contentType,
    disposition,
    contentId,
    sizeBytes: content.byteLength,
    sha256: sha256(content),
    content,
    path,
  };
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function deliveryStatus(
  outcome: DeliveryReport['recipients'][number],
  report: DeliveryReport,
): DeliveryStatusReading {
  return { ...outcome, reportingMta: report.reportingMta };
}

function reportedMessage(
  delivery: DeliveryReport | null,
  feedback: FeedbackReport | null,
): ReportedMessage | null {
  const report = delivery ?? feedback;
  if (report === null) return null;
  const { returned, originalEnvelopeId } = report;
  return {
    messageId: returned?.messageId ?? null,
    envelopeId: originalEnvelopeId,
    subject: returned?.subject ?? null,
    from: returned?.from ?? null,
    to: returned?.to ?? [],
  };
}

function feedbackReading(report: FeedbackReport): FeedbackReading {
  const { type, recipients, userAgent, originalMailFrom, sourceIp, arrivalDate } = report;
  return { type, recipients, userAgent, originalMailFrom, sourceIp, arrivalDate };
}
