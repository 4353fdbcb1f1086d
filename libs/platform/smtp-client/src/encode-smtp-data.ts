const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;

/**
 * A message as it goes after DATA, without the final dot: every line ends in CRLF, lines that begin
 * with a dot get a second one (RFC 5321 §4.5.2), the last line is complete. A bare CR or LF becomes
 * CRLF: a server that takes one for a line end could otherwise be made to see a second message in
 * the first (§2.3.8). Returns `raw` itself when there is nothing to change.
 */
export function encodeSmtpData(raw: Buffer): Buffer {
  const added = countAddedOctets(raw);
  if (added === 0) return raw;
  const wire = Buffer.allocUnsafe(raw.length + added);
  let at = 0;
  let lineStart = true;
  for (let index = 0; index < raw.length; index += 1) {
    const octet = raw[index]!;
    if (octet === CR || octet === LF) {
      wire[at] = CR;
      wire[at + 1] = LF;
      at += 2;
      if (octet === CR && raw[index + 1] === LF) index += 1;
      lineStart = true;
      continue;
    }
    if (lineStart && octet === DOT) {
      wire[at] = DOT;
      at += 1;
    }
    lineStart = false;
    wire[at] = octet;
    at += 1;
  }
  if (!lineStart) {
    wire[at] = CR;
    wire[at + 1] = LF;
  }
  return wire;
}

function countAddedOctets(raw: Buffer): number {
  let added = 0;
  let lineStart = true;
  for (let index = 0; index < raw.length; index += 1) {
    const octet = raw[index]!;
    if (octet === CR || octet === LF) {
      if (octet === CR && raw[index + 1] === LF) index += 1;
      else added += 1;
      lineStart = true;
      continue;
    }
    if (lineStart && octet === DOT) added += 1;
    lineStart = false;
  }
  return lineStart ? added : added + 2;
}

/** True when an octet above 127 occurs, so that BODY=8BITMIME is due (RFC 6152). */
export function hasEightBitOctets(raw: Buffer): boolean {
  for (let index = 0; index < raw.length; index += 1) {
    if (raw[index]! > 0x7f) return true;
  }
  return false;
}

/** True when the header section has an octet above 127, so that SMTPUTF8 is due (RFC 6532). */
export function hasEightBitHeader(raw: Buffer): boolean {
  let end = raw.indexOf('\r\n\r\n');
  if (end === -1) end = raw.length;
  return hasEightBitOctets(raw.subarray(0, end));
}
