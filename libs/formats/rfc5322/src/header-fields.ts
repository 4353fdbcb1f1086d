import { guessText } from './charsets';
import type { HeaderField } from './parsed-message';

export interface HeaderBlock {
  headers: HeaderField[];
  /** Offset of the first body byte; that of the stopping line when there is no blank line before it. */
  bodyStart: number;
  /** True when fields beyond the limit were dropped. */
  truncated: boolean;
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const FIELD_NAME = /^[!-9;-~]+$/;
const NOT_ASCII = /[^\x00-\x7f]/;

/**
 * Reads the header fields at `start` (RFC 5322 §2.2), tolerant: LF or CRLF, white space before the
 * colon, an mbox "From " line, lines that are no field are skipped. A block without a single field
 * is body: mail from scripts often has neither header nor blank line. `source` has LF or CRLF line
 * ends only. The block ends early at a line for which `stopsAt` is true (a boundary of the
 * surrounding multipart); it is asked about lines beginning with "--" only.
 */
export function readHeaderBlock(
  source: Buffer,
  start: number,
  maxBytes: number,
  stopsAt: (lineStart: number) => boolean,
): HeaderBlock {
  const { blockEnd, bodyStart } = findHeaderEnd(source, start, stopsAt);
  const limit = start + maxBytes;
  const truncated = blockEnd > limit;
  const headers = parseFields(source.toString('latin1', start, truncated ? limit : blockEnd));
  if (headers.length === 0 && !truncated && !startsWithMboxLine(source, start)) {
    return { headers, bodyStart: blockEnd > start ? start : bodyStart, truncated };
  }
  return { headers, bodyStart, truncated };
}

/** The last field of that name (RFC 8621 §4.1.3), unfolded and still encoded; null when absent. */
export function getHeader(headers: readonly HeaderField[], name: string): string | null {
  const wanted = name.toLowerCase();
  for (let index = headers.length - 1; index >= 0; index -= 1) {
    const field = headers[index];
    if (field && isNamed(field, wanted)) return field.value;
  }
  return null;
}

/** All fields of that name in order of appearance, unfolded and still encoded. */
export function getHeaders(headers: readonly HeaderField[], name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter((field) => isNamed(field, wanted)).map((field) => field.value);
}

function isNamed(field: HeaderField, lowerCaseName: string): boolean {
  return field.name.length === lowerCaseName.length && field.name.toLowerCase() === lowerCaseName;
}

function findHeaderEnd(
  source: Buffer,
  start: number,
  stopsAt: (lineStart: number) => boolean,
): { blockEnd: number; bodyStart: number } {
  const end = source.length;
  let lineStart = start;
  while (lineStart < end) {
    // "\r\r\n" counts as blank too: some gateways double the CR.
    let first = lineStart;
    while (source[first] === CR) first += 1;
    if (first >= end) return { blockEnd: lineStart, bodyStart: end };
    if (source[first] === LF) return { blockEnd: lineStart, bodyStart: first + 1 };
    if (source[first] === DASH && source[first + 1] === DASH && stopsAt(first)) {
      return { blockEnd: lineStart, bodyStart: lineStart };
    }
    const lineEnd = source.indexOf(LF, first);
    if (lineEnd < 0) break;
    lineStart = lineEnd + 1;
  }
  return { blockEnd: end, bodyStart: end };
}

function parseFields(block: string): HeaderField[] {
  const headers: HeaderField[] = [];
  let position = 0;
  let colon = -1;
  while (position < block.length) {
    let lineEnd = block.indexOf('\n', position);
    let folded = false;
    while (lineEnd >= 0 && isBlankCode(block.charCodeAt(lineEnd + 1))) {
      folded = true;
      lineEnd = block.indexOf('\n', lineEnd + 1);
    }
    if (lineEnd < 0) lineEnd = block.length;
    // A colon ahead is remembered, so that a block of lines without one is still read in linear time.
    if (colon < position) colon = block.indexOf(':', position);
    if (colon < 0) break;
    if (colon < lineEnd) {
      const name = block.slice(position, colon).trimEnd();
      if (FIELD_NAME.test(name)) {
        headers.push({ name, value: fieldValue(block.slice(colon + 1, lineEnd), folded) });
      }
    }
    position = lineEnd + 1;
  }
  return headers;
}

/** Unfolded (RFC 5322 §2.2.3), raw 8-bit bytes as UTF-8 (RFC 6532) or else windows-1252. */
function fieldValue(raw: string, folded: boolean): string {
  const unfolded = (folded || raw.includes('\r') ? raw.replace(/[\r\n]+/g, '') : raw).trim();
  return NOT_ASCII.test(unfolded) ? guessText(Buffer.from(unfolded, 'latin1')) : unfolded;
}

function isBlankCode(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function startsWithMboxLine(source: Buffer, start: number): boolean {
  return /^>?From /.test(source.toString('latin1', start, start + 6));
}
