import { decodeCharset } from './charsets';
import { decodeBase64 } from './transfer-encoding';

/**
 * RFC 2047 §2, read as senders write it: also inside words and quoted strings, with spaces in the
 * encoded text, with a language tag (RFC 2231 §5).
 */
const ENCODED_WORD = /=\?([^?\s]{1,64})\?([bBqQ])\?([^?]*)\?=/g;

interface Run {
  charset: string;
  chunks: Buffer[];
}

/**
 * A header value with its encoded words decoded, as text for people: white space runs become one
 * space, control characters vanish. White space between adjacent encoded words is dropped, and
 * words of one charset are joined before decoding since a character may be split between them.
 */
export function decodeHeaderText(value: string): string {
  return tidyText(decodeEncodedWords(value));
}

/** Only the encoded words decoded; everything else stays as it is. */
export function decodeEncodedWords(value: string): string {
  if (!value.includes('=?')) return value;
  let text = '';
  let position = 0;
  let run: Run | null = null;
  for (const match of value.matchAll(ENCODED_WORD)) {
    const [whole, label = '', encoding = '', encoded = ''] = match;
    const between = value.slice(position, match.index);
    const charset = label.replace(/\*.*$/, '').toLowerCase();
    const bytes = decodeWord(encoding, encoded);
    if (run && isBlank(between)) {
      if (run.charset === charset) {
        run.chunks.push(bytes);
      } else {
        text += decodeRun(run);
        run = { charset, chunks: [bytes] };
      }
    } else {
      if (run) text += decodeRun(run);
      text += between;
      run = { charset, chunks: [bytes] };
    }
    position = match.index + whole.length;
  }
  if (run) text += decodeRun(run);
  return text + value.slice(position);
}

/** One line of text for people: no control characters, white space runs as one space, trimmed. */
export function tidyText(text: string): string {
  return text.replace(/[\s\x00-\x1f\x7f]+/g, ' ').trim();
}

function decodeRun(run: Run): string {
  const [first = Buffer.alloc(0)] = run.chunks;
  return decodeCharset(run.chunks.length === 1 ? first : Buffer.concat(run.chunks), run.charset)
    .text;
}

function decodeWord(encoding: string, encoded: string): Buffer {
  if (encoding === 'b' || encoding === 'B') {
    return Buffer.from(decodeBase64(Buffer.from(encoded, 'latin1')).bytes);
  }
  const raw = encoded
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  // Characters above U+00FF can only stand there raw: the header was UTF-8 already.
  return /[^\x00-\xff]/.test(raw) ? Buffer.from(raw, 'utf8') : Buffer.from(raw, 'latin1');
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
