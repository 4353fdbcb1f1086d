import { createHash, type Hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * Fields that differ between two copies of one message: what relays add on the way (RFC 5321 §4.4,
 * RFC 8601, RFC 8617), and what mailbox files keep beside it.
 */
const TRACE_FIELDS = new Set([
  'received',
  'return-path',
  'delivered-to',
  'envelope-to',
  'received-spf',
  'authentication-results',
  'arc-seal',
  'arc-message-signature',
  'arc-authentication-results',
  'status',
  'lines',
  'content-length',
]);

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
/** Octets after which others have their turn: a few milliseconds. */
const CHUNK = 1024 * 1024;

/**
 * SHA-256 of a message without trace fields, line ends and trailing empty lines: the same for every
 * copy of it, whether it came over SMTP or out of a mailbox file.
 */
export async function contentHash(raw: Uint8Array): Promise<Buffer> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const hash = createHash('sha256');
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === LF || bytes[end - 1] === CR)) end -= 1;
  let position = 0;
  let turnAt = CHUNK;
  let isBody = false;
  while (position < end) {
    if (position >= turnAt) {
      await turn();
      turnAt = position + CHUNK;
    }
    isBody ||= isEmptyLine(bytes, position);
    const next = isBody ? Math.min(end, position + CHUNK) : endOfField(bytes, position, end);
    if (isBody || !isTraceField(bytes, position, next)) {
      addWithoutCr(hash, bytes, position, next);
    }
    position = next;
  }
  return hash.digest();
}

/**
 * The key under which a mailbox holds a message once. Null without a Message-ID: two such messages
 * with the same content may both be meant.
 */
export function dedupeKey(messageId: string | null, content: Uint8Array): Buffer | null {
  if (messageId === null) return null;
  return createHash('sha256').update(messageId).update('\0').update(content).digest();
}

/** As {@link dedupeKey} for a message that is put in again from the same file. */
export function importDedupeKey(messageId: string | null, content: Uint8Array): Buffer {
  return dedupeKey(messageId ?? '', content)!;
}

/** After the last line of the field at `start`, folded lines included. */
function endOfField(bytes: Buffer, start: number, end: number): number {
  let position = start;
  for (;;) {
    const lineEnd = bytes.indexOf(LF, position);
    if (lineEnd === -1 || lineEnd >= end) return end;
    position = lineEnd + 1;
    const next = bytes[position];
    if (next !== SPACE && next !== TAB) return position;
  }
}

function isEmptyLine(bytes: Buffer, start: number): boolean {
  return bytes[start] === LF || (bytes[start] === CR && bytes[start + 1] === LF);
}

function isTraceField(bytes: Buffer, start: number, end: number): boolean {
  const colon = bytes.indexOf(0x3a, start);
  if (colon === -1 || colon >= end || colon - start > 100) return false;
  const name = bytes.toString('latin1', start, colon).trim().toLowerCase();
  return name.startsWith('x-') || TRACE_FIELDS.has(name);
}

function addWithoutCr(hash: Hash, bytes: Buffer, start: number, end: number): void {
  const kept = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let position = start; position < end; position += 1) {
    const octet = bytes[position]!;
    if (octet !== CR) kept[length++] = octet;
  }
  hash.update(kept.subarray(0, length));
}
