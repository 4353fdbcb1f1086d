import { InvalidError } from '@dak/kernel';
import { GrowingWindow } from './growing-window';
import { MAX_MESSAGE_BYTES, TOO_LARGE, type ImportItem } from './import-item';

const FROM = Buffer.from('From ');
const LINE_FROM = Buffer.from('\nFrom ');
const LF = 0x0a;
const CR = 0x0d;
/** `From sender Fri Feb 22 15:06:23 2008`, with whatever zone and remarks programs add. */
const SEPARATOR =
  /^From .*?\b((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s.*?\d{1,2}:\d{2}.*|\d{4}-\d{2}-\d{2}.*)$/i;
const MAX_SEPARATOR = 400;

/**
 * The messages of an mbox stream, in constant memory. Takes the variants as they come (RFC 4155 and
 * the mboxo, mboxrd, mboxcl family): a separator is a `From ` line with a date after an empty line or
 * before a header field;
 * Content-Length is believed when a separator stands where it points; one `>` is taken off quoted
 * `From ` lines.
 * @throws InvalidError when the stream does not begin as an mbox
 */
export async function* mboxMessages(
  source: AsyncIterable<Uint8Array>,
  labels: readonly string[] = [],
): AsyncGenerator<ImportItem> {
  const window = new GrowingWindow(source);
  if (!(await startsWithSeparator(window))) return;
  for (;;) {
    const lineEnd = await endOfLine(window, 0);
    const separator = textOf(window.bytes, 0, lineEnd);
    const end = await endOfMessage(window, lineEnd);
    if (end === null) {
      yield TOO_LARGE;
      if (!(await skipToSeparator(window))) return;
      continue;
    }
    const content = trimmedEnd(window.bytes, lineEnd, end);
    if (content.length > MAX_MESSAGE_BYTES) yield TOO_LARGE;
    else if (content.length > 0) {
      const raw = unquoted(content);
      yield { raw, unread: isUnread(raw), arrivedAt: separatorDate(separator), labels };
    }
    window.drop(end);
    if (!(await window.atLeast(FROM.length))) return;
  }
}

async function startsWithSeparator(window: GrowingWindow): Promise<boolean> {
  for (;;) {
    if (!(await window.atLeast(FROM.length))) return false;
    const blank = window.bytes[0] === LF || window.bytes[0] === CR;
    if (!blank) break;
    window.drop(1);
  }
  if (window.bytes.subarray(0, FROM.length).equals(FROM)) return true;
  throw new InvalidError(
    'The stream is not an mbox: its first line must begin with "From ". Send a single message as message/rfc822.',
    'not_an_mbox',
  );
}

/** Where the message whose text begins at `start` ends and the next separator begins; null when it is too large. */
async function endOfMessage(window: GrowingWindow, start: number): Promise<number | null> {
  const first = await nextSeparator(window, start);
  if (first === null) return null;
  const declared = await declaredEnd(window, start);
  if (declared === null || declared <= first || declared - start > MAX_MESSAGE_BYTES) return first;
  await window.atLeast(declared + MAX_SEPARATOR);
  const { bytes } = window;
  let position = Math.min(declared, bytes.length);
  while (bytes[position] === LF || bytes[position] === CR) position += 1;
  const isEnd = position >= bytes.length && window.ended && declared <= bytes.length;
  return isEnd || isSeparatorAt(bytes, position) ? position : first;
}

/** The next separator after an empty line, the end of the stream, or null beyond the size of a message. */
async function nextSeparator(window: GrowingWindow, start: number): Promise<number | null> {
  let from = Math.max(0, start - 1);
  for (;;) {
    const found = window.bytes.indexOf(LINE_FROM, from);
    if (found === -1) {
      if (window.bytes.length - start > MAX_MESSAGE_BYTES) return null;
      from = Math.max(from, window.bytes.length - LINE_FROM.length);
      if (!(await window.more())) return window.bytes.length;
      continue;
    }
    const lineEnd = await endOfLine(window, found + 1);
    if (
      isSeparatorAt(window.bytes, found + 1) &&
      (followsEmptyLine(window.bytes, found) || (await isFieldAt(window, lineEnd)))
    ) {
      return found + 1;
    }
    from = found + 1;
  }
}

/** After an oversized message: drops up to the next separator. */
async function skipToSeparator(window: GrowingWindow): Promise<boolean> {
  for (;;) {
    const end = await nextSeparator(window, 1);
    if (end !== null) {
      window.drop(end);
      return window.atLeast(FROM.length);
    }
    window.drop(window.bytes.length - MAX_SEPARATOR);
  }
}

/** Where Content-Length says that the message ends; null when it says nothing. */
async function declaredEnd(window: GrowingWindow, start: number): Promise<number | null> {
  let lineStart = start;
  let length: number | null = null;
  for (;;) {
    const lineEnd = await endOfLine(window, lineStart);
    const line = textOf(window.bytes, lineStart, Math.min(lineEnd, lineStart + 200)).trim();
    if (line === '' || lineEnd >= window.bytes.length) {
      return length === null ? null : lineEnd + length;
    }
    const match = /^content-length:\s*(\d{1,12})$/i.exec(line);
    if (match !== null) length = Number(match[1]);
    lineStart = lineEnd;
  }
}

/** After the line feed of the line at `start`, or the end of the stream. */
async function endOfLine(window: GrowingWindow, start: number): Promise<number> {
  for (let from = start; ;) {
    const found = window.bytes.indexOf(LF, from);
    if (found !== -1) return found + 1;
    from = window.bytes.length;
    if (from - start > MAX_MESSAGE_BYTES || !(await window.more())) return window.bytes.length;
  }
}

function followsEmptyLine(bytes: Buffer, lineFeed: number): boolean {
  const before = bytes[lineFeed - 1] === CR ? lineFeed - 2 : lineFeed - 1;
  return before < 0 || bytes[before] === LF;
}

/** A header field begins here: some programs leave out the empty line before a separator. */
async function isFieldAt(window: GrowingWindow, start: number): Promise<boolean> {
  const end = await endOfLine(window, start);
  return /^[!-9;-~]{1,76}:[ \t]/.test(textOf(window.bytes, start, Math.min(end, start + 100)));
}

function isSeparatorAt(bytes: Buffer, position: number): boolean {
  if (!bytes.subarray(position, position + FROM.length).equals(FROM)) return false;
  const end = bytes.indexOf(LF, position);
  const line = textOf(
    bytes,
    position,
    Math.min(end === -1 ? bytes.length : end, position + MAX_SEPARATOR),
  );
  return isSeparatorLine(line);
}

/** A `From ` line with a date. */
export function isSeparatorLine(line: string): boolean {
  return SEPARATOR.test(line.trim());
}

function separatorDate(line: string): Date | null {
  const text = SEPARATOR.exec(line.trim())?.[1] ?? '';
  const zoned = /[+-]\d{4}|\b(?:utc|gmt)\b/i.test(text) ? text : `${text} UTC`;
  const time = Date.parse(zoned);
  return Number.isNaN(time) ? null : new Date(time);
}

function trimmedEnd(bytes: Buffer, start: number, end: number): Buffer {
  let last = end;
  // The empty line before the next separator is not part of the message.
  if (last > start && bytes[last - 1] === LF) last -= 1;
  if (last > start && bytes[last - 1] === CR) last -= 1;
  return bytes.subarray(start, last === start ? start : last);
}

/** A copy with one `>` less before each quoted `From `. */
function unquoted(bytes: Buffer): Buffer {
  if (bytes.indexOf('>From ') === -1) return Buffer.from(bytes);
  return Buffer.from(bytes.toString('latin1').replace(/(^|\n)>(>*From )/g, '$1$2'), 'latin1');
}

/** `Status: R` or `RO` = read; a message that no program has touched has none. */
function isUnread(raw: Buffer): boolean {
  const headerEnd = /\r?\n\r?\n/.exec(raw.toString('latin1', 0, 64 * 1024));
  const header = raw.toString('latin1', 0, headerEnd?.index ?? 64 * 1024);
  const status = /^status:[ \t]*([a-z]*)/im.exec(header)?.[1] ?? '';
  return !status.toUpperCase().includes('R');
}

function textOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end);
}
