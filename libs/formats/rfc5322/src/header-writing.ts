import { InvalidError } from '@dak/kernel';
import type { Address } from './parsed-message';

/** RFC 2047 §2: an encoded word has at most 75 characters; `=?UTF-8?Q?` and `?=` take 12. */
const MAX_PAYLOAD = 63;
/** RFC 5322 §2.1.1, without the CRLF. */
const PREFERRED_LINE = 78;
const MAX_LINE = 998;
/** A longer word could not be folded within the preferred line anyway. */
const LONGEST_PLAIN_WORD = 200;

const FIELD_NAME = /^[!-9;-~]+$/;
const LINE_BREAK_OR_NUL = /[\r\n\0]/;
const PLAIN_TEXT = /^[\t -~]*$/;
const PHRASE_OF_ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** RFC 2047 §5 (3): all that may stand unencoded in a "Q" word inside a phrase. */
const SAFE_IN_PHRASE = /[A-Za-z0-9!*+/-]/;

const DOT_STRING = /^[^\x00-\x20\x7f"(),:;<>@[\]\\.]+(?:\.[^\x00-\x20\x7f"(),:;<>@[\]\\.]+)*$/;

const QUOTED_STRING = /^"(?:[^\x00-\x1f\x7f"\\]|\\[ -~])*"$/;

const DOMAIN = /^(?:\[[^\x00-\x20\x7f[\]\\]+\]|[^\x00-\x20\x7f"(),:;<>@[\]\\]+)$/;

/**
 * Unstructured text (Subject, for one) as it stands in a header: ASCII as it is, the span from the
 * first to the last word that needs it as RFC 2047 encoded words. `field` names the input in the
 * InvalidError that CR, LF or NUL raise.
 */
export function encodeHeaderText(text: string, field = 'text'): string {
  refuseLineBreaks(text, field);
  const words = text.split(' ');
  const first = words.findIndex(needsEncoding);
  if (first < 0) return text;
  const last = words.findLastIndex(needsEncoding);
  const encoded = encodeWords(words.slice(first, last + 1).join(' '));
  return [...words.slice(0, first), encoded, ...words.slice(last + 1)].join(' ');
}

/**
 * `Name <local@domain>` for an address field (RFC 5322 §3.4), the name quoted or encoded as needed;
 * only the address when the name is empty. InvalidError, naming `field`, for line breaks, NUL and
 * for what is no addr-spec. Non-ASCII addresses stay as they are (RFC 6532).
 */
export function formatAddress(address: Address, field = 'address'): string {
  refuseLineBreaks(address.name, field);
  refuseLineBreaks(address.address, field);
  if (!isAddrSpec(address.address)) {
    throw new InvalidError(
      `${field} holds ${JSON.stringify(address.address)}, which is not an email address: write it as local@domain.`,
    );
  }
  const name = address.name.replace(/\s+/g, ' ').trim();
  if (name === '') return address.address;
  return `${formatPhrase(name)} <${address.address}>`;
}

/**
 * A header field folded at white space (RFC 5322 §2.2.3) into lines of at most 78 bytes where there
 * is white space, joined by CRLF, without the final CRLF. `value` is already encoded. InvalidError,
 * naming the field, for line breaks, NUL, a name that is no field name and lines above 998 bytes.
 */
export function foldHeader(name: string, value: string): string {
  if (!FIELD_NAME.test(name)) {
    throw new InvalidError(
      `${JSON.stringify(name)} is not a header name: use printable ASCII without spaces and colons.`,
    );
  }
  refuseLineBreaks(value, name);
  const lines: string[] = [];
  let line = `${name}:`;
  let hasWord = false;
  // Each piece is white space and the word after it, so that unfolding gives back every space.
  for (const piece of ` ${value.trim()}`.match(/[ \t]+[^ \t]+/g) ?? []) {
    if (hasWord && byteLength(line) + byteLength(piece) > PREFERRED_LINE) {
      lines.push(line);
      line = piece;
    } else {
      line += piece;
    }
    hasWord = true;
  }
  lines.push(line);
  if (lines.some((each) => byteLength(each) > MAX_LINE)) {
    throw new InvalidError(`${name} holds a word of more than ${MAX_LINE} bytes: shorten it.`);
  }
  return lines.join('\r\n');
}

function refuseLineBreaks(text: string, field: string): void {
  if (LINE_BREAK_OR_NUL.test(text)) {
    throw new InvalidError(
      `${field} must be a single line: remove line breaks and NUL characters.`,
      'header_injection',
    );
  }
}

function isAddrSpec(address: string): boolean {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  if (at <= 0 || address.length > 320) return false;
  return (
    (DOT_STRING.test(local) || QUOTED_STRING.test(local)) && DOMAIN.test(address.slice(at + 1))
  );
}

function formatPhrase(name: string): string {
  if (needsEncoding(name) || name.length > LONGEST_PLAIN_WORD) return encodeWords(name);
  return PHRASE_OF_ATOMS.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** Text that looks like an encoded word would be decoded by the reader, so it is encoded too. */
function needsEncoding(word: string): boolean {
  return !PLAIN_TEXT.test(word) || word.includes('=?') || word.length > LONGEST_PLAIN_WORD;
}

function encodeWords(text: string): string {
  const base64Length = Math.ceil(byteLength(text) / 3) * 4;
  let quotedLength = 0;
  for (const character of text) quotedLength += quotedPrintable(character).length;
  return quotedLength <= base64Length ? encodeQ(text) : encodeB(text);
}

function encodeQ(text: string): string {
  return chunk(text, (character) => quotedPrintable(character).length, MAX_PAYLOAD)
    .map((part) => `=?UTF-8?Q?${Array.from(part, quotedPrintable).join('')}?=`)
    .join(' ');
}

function encodeB(text: string): string {
  return chunk(text, byteLength, Math.floor(MAX_PAYLOAD / 4) * 3)
    .map((part) => `=?UTF-8?B?${Buffer.from(part, 'utf8').toString('base64')}?=`)
    .join(' ');
}

/** Splits between characters, never within one (RFC 2047 §5), each chunk of at most `max` by `size`. */
function chunk(text: string, size: (character: string) => number, max: number): string[] {
  const chunks: string[] = [];
  let current = '';
  let used = 0;
  for (const character of text) {
    const length = size(character);
    if (used + length > max && current !== '') {
      chunks.push(current);
      current = '';
      used = 0;
    }
    current += character;
    used += length;
  }
  chunks.push(current);
  return chunks;
}

function quotedPrintable(character: string): string {
  if (character === ' ') return '_';
  if (SAFE_IN_PHRASE.test(character)) return character;
  return Array.from(
    Buffer.from(character, 'utf8'),
    (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
