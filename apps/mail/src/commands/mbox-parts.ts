import { open } from 'node:fs/promises';
import { isSeparatorLine } from '../receiving/import/mbox-messages';

/** A stretch of a file, in octets; `end` is after the last one. */
export interface FilePart {
  start: number;
  end: number;
}

const READ_BYTES = 1024 * 1024;

/** Cuts an mbox at separators into parts of about `partBytes`, reading only around the cuts. */
export async function mboxParts(
  path: string,
  sizeBytes: number,
  partBytes: number,
): Promise<FilePart[]> {
  const parts: FilePart[] = [];
  const file = await open(path, 'r');
  try {
    let start = 0;
    while (sizeBytes - start > 2 * partBytes) {
      const end = await separatorAfter(file, start + partBytes, sizeBytes);
      parts.push({ start, end });
      start = end;
    }
    if (start < sizeBytes) parts.push({ start, end: sizeBytes });
  } finally {
    await file.close();
  }
  return parts;
}

/** Position of the next `From ` line with a date after an empty line; the size when there is none. */
async function separatorAfter(
  file: Awaited<ReturnType<typeof open>>,
  from: number,
  sizeBytes: number,
): Promise<number> {
  // Reads overlap, so that a separator between two of them is seen whole.
  const overlap = 1024;
  for (let position = from; position < sizeBytes; position += READ_BYTES - overlap) {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(READ_BYTES),
      0,
      READ_BYTES,
      position,
    );
    const text = buffer.toString('latin1', 0, bytesRead);
    for (const match of text.matchAll(/\n\r?\n(From [^\n]{0,400})\r?\n/g)) {
      if (isSeparatorLine(match[1]!)) return position + match.index + match[0].indexOf('From ');
    }
  }
  return sizeBytes;
}
