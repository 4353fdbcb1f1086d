import { parseMessage, type Part } from '@dak/formats/rfc5322';

/**
 * The first part of the message itself with one of these content types, in document order. Attached messages are not
 * entered: a report that a person forwards is no report of its own.
 */
export function findOwnPart(root: Part, contentTypes: readonly string[]): Part | null {
  for (const part of ownParts(root)) {
    if (contentTypes.includes(part.contentType)) return part;
  }
  return null;
}

/** The parts of the message itself in document order, without those inside attached messages. */
export function ownParts(root: Part): Part[] {
  const found: Part[] = [];
  const pending = [root];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    found.push(part);
    if (isEmbeddedMessage(part)) continue;
    for (let index = part.children.length - 1; index >= 0; index -= 1) {
      const child = part.children[index];
      if (child) pending.push(child);
    }
  }
  return found;
}

function isEmbeddedMessage(part: Part): boolean {
  return part.contentType === 'message/rfc822' || part.contentType === 'message/global';
}

/** The bytes of a report part as text: UTF-8 (RFC 6533), else Latin-1, which cannot fail. */
export function reportText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

/** What is known of the message that a report is about. */
export interface ReturnedMessage {
  /** Without brackets. */
  messageId: string | null;
  subject: string | null;
  from: string | null;
  to: string[];
  headers: Part['headers'];
}

const HEADER_TYPES = ['text/rfc822-headers', 'text/rfc822-header', 'message/global-headers'];

/**
 * The returned message or its headers (RFC 6522 §3, third part): `message/rfc822`, `text/rfc822-headers` and the
 * misspelled `text/rfc822-header` of several feedback loops. Null when the report returns nothing.
 */
export function findReturnedMessage(root: Part): ReturnedMessage | null {
  for (const part of ownParts(root)) {
    if (isEmbeddedMessage(part) && part.embeddedHeaders) {
      return describe(new TextEncoder().encode(headerBlock(part.embeddedHeaders)));
    }
    if (HEADER_TYPES.includes(part.contentType)) return describe(part.content);
  }
  return null;
}

/** The same for a copy that stands in the text of a plain bounce. */
export function readReturnedText(text: string): ReturnedMessage | null {
  const returned = describe(new TextEncoder().encode(text.replace(/^\s+/, '')));
  return returned.headers.length > 0 ? returned : null;
}

function headerBlock(headers: Part['headers']): string {
  return headers.map((field) => `${field.name}: ${field.value}\r\n`).join('') + '\r\n';
}

function describe(bytes: Uint8Array): ReturnedMessage {
  const message = parseMessage(bytes);
  return {
    messageId: message.messageId,
    subject: message.headers.length === 0 ? null : message.subject,
    from: message.from[0]?.address ?? null,
    to: message.to.map((entry) => entry.address),
    headers: message.headers,
  };
}
