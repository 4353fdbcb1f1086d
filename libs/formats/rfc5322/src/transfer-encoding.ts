import { asBuffer } from './charsets';

export interface DecodedBody {
  bytes: Uint8Array;
  /** False when the encoded form was malformed or the encoding is unknown; the bytes are the best reading. */
  clean: boolean;
}

const IDENTITY = new Set(['', '7bit', '8bit', 'binary', '7-bit', '8-bit', 'none']);

/** Known encodings that are reported as they are: there is no standard for what is inside. */
const OPAQUE = new Set([
  'uuencode',
  'x-uuencode',
  'x-uue',
  'uue',
  'x-gzip64',
  'gzip64',
  'x-binhex40',
]);

/**
 * Undoes a Content-Transfer-Encoding (RFC 2045 §6). `encoding` is lower case. Identity encodings
 * return a view of the input, not a copy. Never throws.
 */
export function decodeTransferEncoding(bytes: Uint8Array, encoding: string): DecodedBody {
  if (IDENTITY.has(encoding)) return { bytes, clean: true };
  if (encoding === 'base64') return decodeBase64(bytes);
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(bytes);
  return { bytes, clean: OPAQUE.has(encoding) };
}

const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/;
const ONLY_PADDING = /^[=\s]*$/;

/**
 * RFC 2045 §6.8: everything outside the alphabet is ignored, decoding stops at the padding (what
 * follows is a footer that some list manager appended), missing padding is tolerated.
 */
export function decodeBase64(bytes: Uint8Array): DecodedBody {
  const buffer = asBuffer(bytes);
  const text = buffer.toString('latin1');
  const padding = text.indexOf('=');
  const wellFormed =
    !NOT_BASE64.test(text) && (padding < 0 || ONLY_PADDING.test(text.slice(padding)));
  if (wellFormed) return { bytes: Buffer.from(text, 'base64'), clean: true };
  return { bytes: decodeDirtyBase64(buffer), clean: false };
}

const BASE64_VALUES = new Int8Array(256).fill(-1);
for (let value = 0; value < 64; value += 1) {
  const letter = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(
    value,
  );
  BASE64_VALUES[letter] = value;
}

const EQUALS = 0x3d;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

function decodeDirtyBase64(buffer: Buffer): Uint8Array {
  const out = Buffer.allocUnsafe(Math.ceil((buffer.length * 3) / 4));
  let length = 0;
  let quantum = 0;
  let sextets = 0;
  for (let index = 0; index < buffer.length; index += 1) {
    const byte = buffer[index] ?? 0;
    if (byte === EQUALS) {
      // A lone "=" between quanta is no padding, only noise.
      if (sextets >= 2) break;
      continue;
    }
    const value = BASE64_VALUES[byte] ?? -1;
    if (value < 0) continue;
    quantum = (quantum << 6) | value;
    sextets += 1;
    if (sextets === 4) {
      out[length] = quantum >> 16;
      out[length + 1] = quantum >> 8;
      out[length + 2] = quantum;
      length += 3;
      quantum = 0;
      sextets = 0;
    }
  }
  if (sextets === 2) {
    out[length] = quantum >> 4;
    length += 1;
  } else if (sextets === 3) {
    out[length] = quantum >> 10;
    out[length + 1] = quantum >> 2;
    length += 2;
  }
  return out.subarray(0, length);
}

/**
 * RFC 2045 §6.7: soft line breaks vanish (also with white space before the line end), white space
 * at the end of a line is transport padding, a line end is the canonical CRLF whatever the file
 * has (rule 4), "=" not followed by two hexadecimal digits is kept literally.
 */
function decodeQuotedPrintable(bytes: Uint8Array): DecodedBody {
  const input = asBuffer(bytes);
  const out = Buffer.allocUnsafe(input.length + countLf(input));
  const end = input.length;
  let length = 0;
  /** Output length up to the last byte that is not droppable white space of this line. */
  let kept = 0;
  let clean = true;
  let index = 0;
  while (index < end) {
    const byte = input[index] ?? 0;
    index += 1;
    if (byte === EQUALS) {
      const value = hexPair(input, index);
      const next = value < 0 ? afterSoftBreak(input, index) : index + 2;
      if (value >= 0) {
        out[length++] = value;
        index = next;
      } else if (next >= 0) {
        index = next;
      } else {
        clean = false;
        out[length++] = byte;
      }
      // White space before the "=" of a soft break is content as well.
      kept = length;
    } else if (byte === LF || (byte === CR && input[index] === LF)) {
      length = kept;
      out[length++] = CR;
      out[length++] = LF;
      kept = length;
      if (byte === CR) index += 1;
    } else {
      out[length++] = byte;
      if (byte !== SPACE && byte !== TAB) kept = length;
    }
  }
  return { bytes: out.subarray(0, kept), clean };
}

function countLf(input: Buffer): number {
  let count = 0;
  for (const byte of input) if (byte === LF) count += 1;
  return count;
}

/** Index after a soft line break whose "=" stands before `from`; -1 when there is none. */
function afterSoftBreak(input: Buffer, from: number): number {
  let index = from;
  while (input[index] === SPACE || input[index] === TAB) index += 1;
  if (index >= input.length) return index;
  if (input[index] === LF) return index + 1;
  if (input[index] !== CR) return -1;
  return input[index + 1] === LF ? index + 2 : index + 1;
}

function hexPair(input: Buffer, index: number): number {
  const high = hexDigit(input[index]);
  if (high < 0) return -1;
  const low = hexDigit(input[index + 1]);
  return low < 0 ? -1 : high * 16 + low;
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
