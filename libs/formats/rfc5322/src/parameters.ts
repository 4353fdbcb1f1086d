import { decodeCharset } from './charsets';
import { withoutComments } from './comments';
import { decodeEncodedWords } from './encoded-words';

export interface ParameterizedValue {
  /** What stands before the first parameter, trimmed, as written. */
  value: string;
  /** Lower-case names; the first of several equal ones; an extended form (`name*`) wins over a plain one. */
  parameters: Map<string, string>;
}

interface Segment {
  index: number;
  extended: boolean;
  text: string;
}

interface RawParameters {
  plain: Map<string, string>;
  segments: Map<string, Segment[]>;
}

/**
 * A `value; name=value` header (RFC 2045 §5.1) with RFC 2231 continuations and charsets decoded.
 * Tolerated: stray semicolons, a missing semicolon between parameters, unquoted values with spaces,
 * an unclosed quote, encoded words where RFC 2047 §5 forbids them.
 */
export function parseParameterizedValue(header: string): ParameterizedValue {
  const semicolon = header.indexOf(';');
  const head = semicolon < 0 ? header : header.slice(0, semicolon);
  const missing = /[\s)]([A-Za-z0-9*_-]{1,40}\s*=[\s\S]*)$/.exec(head);
  const value = withoutComments(missing ? head.slice(0, missing.index) : head).trim();
  const rest = missing
    ? (missing[1] ?? '') + (semicolon < 0 ? '' : header.slice(semicolon))
    : header.slice(head.length);
  return { value, parameters: decodeParameters(scanParameters(rest)) };
}

const SEPARATORS = /[\s;]*/y;
const NAME = /([^\s;="()]{1,200})\s*=\s*/y;
const NEXT_NAME = /\s+[A-Za-z0-9*_-]{1,40}\s*=(?!=)/y;

function scanParameters(text: string): RawParameters {
  const raw: RawParameters = { plain: new Map(), segments: new Map() };
  let position = 0;
  while (position < text.length) {
    SEPARATORS.lastIndex = position;
    SEPARATORS.test(text);
    position = NAME.lastIndex = SEPARATORS.lastIndex;
    const match = NAME.exec(text);
    if (!match) {
      const next = text.indexOf(';', position);
      if (next < 0) break;
      position = next + 1;
      continue;
    }
    const name = (match[1] ?? '').toLowerCase();
    const scanned =
      text[NAME.lastIndex] === '"'
        ? scanQuoted(text, NAME.lastIndex + 1)
        : scanToken(text, NAME.lastIndex, name);
    position = scanned.end;
    collect(raw, name, scanned.value);
  }
  return raw;
}

function scanQuoted(text: string, start: number): { value: string; end: number } {
  let value = '';
  let copied = start;
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) return { value: value + text.slice(copied, index), end: index + 1 };
    if (code !== 0x5c) continue;
    const next = text[index + 1];
    // Only \" and \\ are escapes here: Windows senders write folders with single backslashes.
    if (next !== '"' && next !== '\\') continue;
    value += text.slice(copied, index);
    copied = index + 1;
    index += 1;
  }
  return { value: value + text.slice(copied), end: text.length };
}

function scanToken(text: string, start: number, name: string): { value: string; end: number } {
  let end = start;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === 0x3b) break;
    if (code !== 0x20 && code !== 0x09) continue;
    NEXT_NAME.lastIndex = end;
    if (NEXT_NAME.test(text)) break;
    while (isBlank(text.charCodeAt(end + 1))) end += 1;
  }
  const token = text.slice(start, end).trim();
  // `charset=us-ascii (Plain text)` is the standard's own example; a file name may contain "(1)".
  const isName = name.startsWith('name') || name.startsWith('filename');
  const comment = isName ? -1 : token.indexOf('(');
  return { value: comment < 0 ? token : token.slice(0, comment).trimEnd(), end };
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function collect(raw: RawParameters, name: string, value: string): void {
  const star = name.indexOf('*');
  if (star <= 0) {
    if (!raw.plain.has(name)) raw.plain.set(name, value);
    return;
  }
  const suffix = /^\*(?:(\d{1,5})(\*)?)?$/.exec(name.slice(star));
  if (!suffix) return;
  const numbered = suffix[1] !== undefined;
  const segment: Segment = {
    index: numbered ? Number(suffix[1]) : 0,
    extended: !numbered || suffix[2] !== undefined,
    text: value,
  };
  const base = name.slice(0, star);
  const segments = raw.segments.get(base);
  if (segments) segments.push(segment);
  else raw.segments.set(base, [segment]);
}

function decodeParameters(raw: RawParameters): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of raw.plain) parameters.set(name, decodeEncodedWords(value));
  for (const [name, segments] of raw.segments) parameters.set(name, decodeSegments(segments));
  return parameters;
}

/** RFC 2231 §3 and §4: segments in the order of their numbers, charset and language in the first. */
function decodeSegments(segments: Segment[]): string {
  segments.sort((one, other) => one.index - other.index);
  let charset: string | null = null;
  let hasCharset = false;
  let previous = -1;
  const chunks: Buffer[] = [];
  for (const segment of segments) {
    if (segment.index === previous) continue;
    previous = segment.index;
    let text = segment.text;
    if (segment.extended && !hasCharset) {
      const declared = /^([^']{0,64})'[^']{0,64}'/.exec(text);
      if (declared) {
        charset = declared[1] ?? '';
        hasCharset = true;
        text = text.slice(declared[0].length);
      }
    }
    chunks.push(segment.extended ? percentDecode(text) : Buffer.from(text, 'utf8'));
  }
  return decodeEncodedWords(decodeCharset(Buffer.concat(chunks), charset).text);
}

function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (!text.includes('%')) return bytes;
  const latin1 = bytes
    .toString('latin1')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(latin1, 'latin1');
}
