import { createHash } from 'node:crypto';

import { automationSignals } from '@dak/formats/auto-submitted';
import { parseMessage, type ParsedMessage } from '@dak/formats/rfc5322';

import { classify } from './classify';
import type { MessageReading } from './message-reading';
import { threadFacts } from './thread-facts';

/** Headers beyond this are not read: the message has already failed once. */
const MAX_HEADER_BYTES = 64 * 1024;

const CR = 0x0d;
const LF = 0x0a;

/**
 * The reading of a message that could not be read in time, in memory, or at all: its headers, and the raw message as
 * an attachment, so that it is delivered and nothing is lost. Never throws.
 */
export function failedReading(raw: Uint8Array): MessageReading {
  const headers = readHeaders(raw);
  const automation = automationSignals(headers.headers);
  const kind = classify(
    { isFeedback: false, isDeliveryReport: false, isDispositionNotification: false },
    automation,
  );
  const sha256 = createHash('sha256').update(raw).digest('hex');
  const contentType = 'message/rfc822';
  return {
    kind,
    mayAutoReply: false,
    messageId: headers.messageId,
    subject: headers.subject,
    date: headers.date,
    from: headers.from,
    sender: headers.sender,
    replyTo: headers.replyTo,
    to: headers.to,
    cc: headers.cc,
    bcc: headers.bcc,
    headers: headers.headers,
    thread: threadFacts(headers),
    text: null,
    isTextDerived: false,
    html: null,
    htmlSafe: null,
    textNew: null,
    htmlNew: null,
    extraction: null,
    preview: '',
    parts: [{ path: '1', contentType, charset: null, sizeBytes: raw.byteLength, sha256 }],
    attachments: [
      {
        filename: 'message.eml',
        contentType,
        disposition: 'attachment',
        contentId: null,
        sizeBytes: raw.byteLength,
        sha256,
        content: raw,
        path: '1',
      },
    ],
    deliveryStatus: [],
    reportedMessage: null,
    feedback: null,
    disposition: null,
    listId: automation.list?.id ?? null,
    sizeBytes: raw.byteLength,
    defects: ['reading_failed'],
  };
}

function readHeaders(raw: Uint8Array): ParsedMessage {
  try {
    return parseMessage(headerBlock(raw));
  } catch {
    return parseMessage(new Uint8Array());
  }
}

/** The bytes up to the first empty line. */
function headerBlock(raw: Uint8Array): Uint8Array {
  const limit = Math.min(raw.byteLength, MAX_HEADER_BYTES);
  for (let index = 0; index + 1 < limit; index += 1) {
    if (raw[index] !== LF) continue;
    if (raw[index + 1] === LF) return raw.subarray(0, index + 2);
    if (raw[index + 1] === CR && raw[index + 2] === LF) return raw.subarray(0, index + 3);
  }
  return raw.subarray(0, limit);
}
