import { asBuffer } from './charsets';

/** A message as stored, and the same bytes with every bare CR line end as LF, so that offsets are equal. */
export interface Source {
  raw: Buffer;
  lines: Buffer;
}

const CR = 0x0d;
const LF = 0x0a;

/**
 * Files of old Mac mail stores end lines with a bare CR. They are recognized by an empty line CR CR
 * before the first LF, or by the absence of any LF; in all others a bare CR is an ordinary byte.
 */
export function readableLineEnds(bytes: Uint8Array): Source {
  const raw = asBuffer(bytes);
  const firstLf = raw.indexOf(LF);
  const firstCr = raw.indexOf(CR);
  if (firstCr < 0 || (firstLf >= 0 && firstLf <= firstCr + 1)) return { raw, lines: raw };
  if (firstLf >= 0) {
    const blank = raw.indexOf('\r\r');
    if (blank < 0 || blank > firstLf - 3) return { raw, lines: raw };
  }
  const lines = Buffer.from(raw);
  // A plain loop: a native search per line end costs ten times as much.
  for (let index = firstCr; index < lines.length; index += 1) {
    if (lines[index] === CR && lines[index + 1] !== LF) lines[index] = LF;
  }
  return { raw, lines };
}

/** Text with LF line ends, whatever the sender used. */
export function withLfLineEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
