/** A boundary line (RFC 2046 §5.1.1) of one of several nested multiparts. */
export interface Delimiter {
  /** Index of its boundary in the list of open ones. */
  level: number;
  /** True for the last boundary line of its multipart. */
  closes: boolean;
  lineStart: number;
  /** Where the content before it ends: the line end before the boundary belongs to the boundary. */
  contentEnd: number;
  /** Start of the line after it. */
  next: number;
}

/** The value of a boundary parameter, ready for comparison with lines. */
export interface Boundary {
  /** As declared. */
  bytes: Buffer;
  /** Its first two bytes, which settle most comparisons. */
  first: number;
  second: number | undefined;
  /** Without trailing white space, which transport may have stripped; RFC 2046 forbids it anyway. */
  trimmedLength: number;
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

export function compileBoundary(value: string): Boundary {
  // Raw UTF-8 in a boundary was decoded with the header; it has to become the same bytes again.
  const bytes = Buffer.from(value, 'utf8');
  const [first = -1, second] = bytes;
  return { bytes, first, second, trimmedLength: Buffer.byteLength(value.trimEnd(), 'utf8') };
}

/**
 * The first boundary line at or after `from`, which must be the start of a line; null when there is
 * none. `open` lists the boundaries outermost first; the outermost wins (RFC 2046 §5.1.2).
 */
export function findDelimiter(
  source: Buffer,
  from: number,
  open: readonly Boundary[],
): Delimiter | null {
  if (open.length === 0) return null;
  let lineStart = from;
  if (source[lineStart] !== DASH || source[lineStart + 1] !== DASH) {
    lineStart = nextDashLine(source, lineStart);
  }
  while (lineStart >= 0) {
    const delimiter = delimiterAt(source, lineStart, open);
    if (delimiter) return delimiter;
    lineStart = nextDashLine(source, lineStart + 2);
  }
  return null;
}

/** The boundary line at `lineStart`, where "--" stands; null when it is an ordinary line. */
export function delimiterAt(
  source: Buffer,
  lineStart: number,
  open: readonly Boundary[],
): Delimiter | null {
  const first = source[lineStart + 2];
  const second = source[lineStart + 3];
  for (let level = 0; level < open.length; level += 1) {
    const boundary = open[level];
    if (!boundary) continue;
    if (boundary.trimmedLength > 0 && boundary.first !== first) continue;
    if (boundary.trimmedLength > 1 && boundary.second !== second) continue;
    const ending = endingOf(source, lineStart + 2, boundary);
    if (ending === null) continue;
    const lineEnd = source.indexOf(LF, lineStart + 2);
    return {
      level,
      closes: ending === 'closes',
      lineStart,
      contentEnd: beforeLineEnd(source, lineStart),
      next: lineEnd < 0 ? source.length : lineEnd + 1,
    };
  }
  return null;
}

function endingOf(source: Buffer, start: number, boundary: Boundary): 'opens' | 'closes' | null {
  const { bytes, trimmedLength } = boundary;
  if (matches(source, start, bytes, bytes.length)) {
    const ending = endingAt(source, start + bytes.length);
    if (ending !== null) return ending;
  }
  if (trimmedLength === bytes.length || !matches(source, start, bytes, trimmedLength)) return null;
  // Either all of the white space was stripped on the way or it is another line.
  const end = start + trimmedLength;
  return isBlank(source[end]) ? null : endingAt(source, end);
}

function matches(source: Buffer, start: number, bytes: Buffer, length: number): boolean {
  if (start + length > source.length) return false;
  return source.compare(bytes, 0, length, start, start + length) === 0;
}

/**
 * What follows the boundary decides: white space or the line end opens a part, "--" closes, anything
 * else makes it a longer word of another multipart ("b" and "b-1").
 */
function endingAt(source: Buffer, index: number): 'opens' | 'closes' | null {
  const byte = source[index];
  if (byte === DASH && source[index + 1] === DASH) return 'closes';
  if (byte === undefined || byte === CR || byte === LF || isBlank(byte)) return 'opens';
  return null;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

const DASH_LINE = Buffer.from('\n--', 'latin1');
/** How far a plain loop looks before the native search, whose call alone costs as much, takes over. */
const NEAR = 48;

function nextDashLine(source: Buffer, from: number): number {
  const start = Math.max(0, from - 1);
  for (let index = start; index < start + NEAR; index += 1) {
    if (source[index] === LF && source[index + 1] === DASH && source[index + 2] === DASH) {
      return index + 1;
    }
  }
  const found = source.indexOf(DASH_LINE, start + NEAR);
  return found < 0 ? -1 : found + 1;
}

function beforeLineEnd(source: Buffer, lineStart: number): number {
  let end = lineStart;
  if (end > 0 && source[end - 1] === LF) end -= 1;
  if (end < lineStart && end > 0 && source[end - 1] === CR) end -= 1;
  return end;
}
