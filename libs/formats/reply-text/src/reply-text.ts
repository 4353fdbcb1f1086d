import { findNewLines, type ExtractionMethod, type NewLines } from './new-lines';
import { withoutSignature } from './signature';

/** What the author of a reply wrote now. */
export interface ReplyText {
  /** Trimmed; empty only when the body is. */
  text: string;
  method: ExtractionMethod;
  /** 0 to 1: how sure it is that all old mail and nothing else was taken off. */
  confidence: number;
  /** BCP 47 primary subtag of the recognized attribution or header block; null when there is none. */
  language: string | null;
}

/** Longer text is returned unchanged, since no person typed it; this bounds the work. */
const MAX_LENGTH = 2 * 1024 * 1024;

/**
 * The new text of a plain text reply, without the quoted mail and without a delimited signature. Forwarded mail is
 * kept: it is what the author sends. Falls back to the whole text rather than returning nothing.
 *
 * Own code: of the parsers on npm, `email-reply-parser` knows no HTML, no Indian language and keeps quotations that
 * an answer follows, and `planer` needs a DOM.
 */
export function newTextOfReply(body: string): ReplyText {
  if (body.length > MAX_LENGTH)
    return { text: body.trim(), method: 'none', confidence: 0, language: null };
  const lines = body.split(/\r\n|\n|\r/);
  const found = findNewLines(lines);
  const kept = keptText(lines, found);
  const end = found.method === 'forwarded' ? kept.length : withoutSignature(kept);
  const text = trimLines(kept.slice(0, end));
  const { method, confidence, language } = found;
  if (text !== '') return { text, method, confidence, language };
  return { text: body.trim(), method: 'all_quoted', confidence: 0.2, language };
}

function keptText(lines: readonly string[], found: NewLines): string[] {
  const kept: string[] = [];
  const { partial } = found;
  for (const [index, [from, to]] of found.keep.entries()) {
    const start = index > 0 ? skipBlanks(lines, from, to) : from;
    for (let line = start; line < to; line += 1) kept.push(lines[line] ?? '');
    if (partial?.line === to) {
      kept.push((lines[partial.line] ?? '').slice(0, partial.column).replace(/[\s-]+$/, ''));
    }
  }
  return kept;
}

/** The blank lines after a quotation go with it; those before it separate the two pieces of the reply. */
function skipBlanks(lines: readonly string[], from: number, to: number): number {
  let index = from;
  while (index < to && (lines[index] ?? '').trim() === '') index += 1;
  return index;
}

function trimLines(lines: readonly string[]): string {
  return lines.join('\n').trim();
}
