import { matchAttribution } from './attribution';
import { matchHeaderBlock } from './header-block';
import { isForwardMark, isOriginalMark, isReplyAboveMark, isRuleLine } from './separators';

/** Which rule found the border between the reply and the mail it answers. */
export type ExtractionMethod =
  | 'none'
  | 'attribution'
  | 'header_block'
  | 'original_message'
  | 'quote_marks'
  | 'quote_container'
  | 'reply_above_line'
  | 'interleaved'
  | 'forwarded'
  | 'all_quoted';

/** What the structure of the source says of a line, beyond its words. */
export interface LineHints {
  /** Inside a quotation of the mail program. */
  quoted: boolean;
  /** Inside a quotation only when an attribution stands before: an indented paragraph looks the same. */
  maybeQuoted: boolean;
  /** Inside the element in which the mail program puts the old mail together with its introduction. */
  oldMail: boolean;
  /** In or after an element with which the old mail begins and that does not contain it. */
  oldMailStart: boolean;
}

export interface NewLines {
  /** Ranges of lines that are new, in order: `[from, to)`. */
  keep: [from: number, to: number][];
  /** Where the border cuts through a line: that line and the number of its characters that are new. */
  partial: { line: number; column: number } | null;
  method: ExtractionMethod;
  confidence: number;
  language: string | null;
}

interface Border {
  line: number;
  /** Lines of the border itself. */
  lines: number;
  column: number;
  method: ExtractionMethod;
  language: string | null;
}

const NO_HINTS: LineHints = {
  quoted: false,
  maybeQuoted: false,
  oldMail: false,
  oldMailStart: false,
};

/** Fewer marked lines without an attribution are quotations that the author made (">>> link <<<"). */
const MIN_MARKED_LINES = 3;

/**
 * Decides which lines of a body are new. One pass over the lines for the border and one for the rest, with bounded
 * looking ahead: linear in the length of the body.
 */
export function findNewLines(lines: readonly string[], hints?: readonly LineHints[]): NewLines {
  const hintOf = (index: number) => hints?.[index] ?? NO_HINTS;
  const isMarked = (index: number) => /^[ \t]{0,3}>/.test(lines[index] ?? '');
  const isQuoted = (index: number) => isMarked(index) || hintOf(index).quoted;
  const border = findBorder(lines, hintOf, isQuoted);
  if (border === null) return everything(lines, 'none', 0.6);
  if (border.method === 'forwarded') return everything(lines, 'forwarded', 0.9);
  const result = cutAt(border, lines, hintOf, (index) =>
    border.method === 'quote_marks'
      ? isQuoted(index)
      : isQuoted(index) || hintOf(index).maybeQuoted,
  );
  return result.keep.some(([from, to]) => hasWords(lines, from, to)) ||
    hasPartialWords(lines, result)
    ? result
    : { ...everything(lines, 'all_quoted', 0.2), language: border.language };
}

function everything(
  lines: readonly string[],
  method: ExtractionMethod,
  confidence: number,
): NewLines {
  return { keep: [[0, lines.length]], partial: null, method, confidence, language: null };
}

function hasWords(lines: readonly string[], from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) {
    if (/[\p{L}\p{N}\p{S}\p{P}]/u.test(lines[index] ?? '')) return true;
  }
  return false;
}

function hasPartialWords(lines: readonly string[], result: NewLines): boolean {
  if (result.partial === null) return false;
  return (lines[result.partial.line] ?? '').slice(0, result.partial.column).trim() !== '';
}

function findBorder(
  lines: readonly string[],
  hintOf: (index: number) => LineHints,
  isQuoted: (index: number) => boolean,
): Border | null {
  let firstQuoted = -1;
  let quotedLines = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '') continue;
    if (isForwardMark(line)) return plainBorder(index, 'forwarded');
    const structural = findStructuralBorder(lines, index);
    if (structural) return structural;
    if (hintOf(index).oldMail || hintOf(index).oldMailStart) {
      return {
        ...plainBorder(index, 'quote_container'),
        language: matchAttribution(lines, index, isQuoted)?.language ?? null,
      };
    }
    if (isQuoted(index)) {
      if (firstQuoted < 0) firstQuoted = index;
      quotedLines += 1;
      continue;
    }
    const attribution = matchAttribution(lines, index, isQuoted);
    if (attribution && (attribution.column === 0 || hasQuoteSoon(lines, index + 1, isQuoted))) {
      return { line: index, ...attribution, method: 'attribution' };
    }
  }
  if (firstQuoted < 0) return null;
  const structured = hintOf(firstQuoted).quoted;
  if (!structured && quotedLines < MIN_MARKED_LINES) return null;
  return plainBorder(firstQuoted, 'quote_marks');
}

function plainBorder(line: number, method: ExtractionMethod): Border {
  return { line, lines: 1, column: 0, method, language: null };
}

function findStructuralBorder(lines: readonly string[], at: number): Border | null {
  const line = lines[at] ?? '';
  if (isOriginalMark(line)) {
    return {
      ...plainBorder(at, 'original_message'),
      language: matchHeaderBlock(lines, at + 1)?.language ?? null,
    };
  }
  if (isReplyAboveMark(line) && at > 0) return plainBorder(at, 'reply_above_line');
  const block = matchHeaderBlock(lines, at);
  return block ? { ...plainBorder(at, 'header_block'), language: block.language } : null;
}

/** Programs draw a rule above the border; it goes with the old mail. */
function withRuleAbove({ line, method }: Border, lines: readonly string[]): number {
  if (method === 'quote_marks') return line;
  let above = line - 1;
  while (above > 0 && above > line - 4 && (lines[above] ?? '').trim() === '') above -= 1;
  return isRuleLine(lines[above] ?? '') ? above : line;
}

function skipBlank(lines: readonly string[], from: number): number {
  let index = from;
  while (index < lines.length && index < from + 4 && (lines[index] ?? '').trim() === '') index += 1;
  return index;
}

function hasQuoteSoon(
  lines: readonly string[],
  from: number,
  isQuoted: (index: number) => boolean,
): boolean {
  return isQuoted(skipBlank(lines, from));
}

function cutAt(
  border: Border,
  lines: readonly string[],
  hintOf: (index: number) => LineHints,
  isQuoted: (index: number) => boolean,
): NewLines {
  const { line, column, method, language } = border;
  const partial = column > 0 ? { line, column } : null;
  const head: [number, number] = [0, column > 0 ? line : withRuleAbove(border, lines)];
  const toEnd = (confidence: number): NewLines => ({
    keep: [head],
    partial,
    method,
    confidence,
    language,
  });
  if (method === 'header_block' || method === 'original_message' || method === 'reply_above_line')
    return toEnd(0.9);
  if (hintOf(line).oldMailStart) return toEnd(0.95);
  let firstQuoted: number;
  if (method === 'quote_container') {
    let end = line;
    while (end < lines.length && hintOf(end).oldMail) end += 1;
    firstQuoted = line;
    while (firstQuoted < end && !isQuoted(firstQuoted)) firstQuoted += 1;
    if (firstQuoted === end) {
      const keep: NewLines['keep'] = hasWords(lines, end, lines.length)
        ? [head, [end, lines.length]]
        : [head];
      return { keep, partial, method, confidence: 0.95, language };
    }
  } else {
    firstQuoted = skipBlank(lines, line + (method === 'quote_marks' ? 0 : border.lines));
  }
  // An attribution without quote marks below it introduces an unmarked copy, down to the end.
  if (firstQuoted >= lines.length || !isQuoted(firstQuoted))
    return toEnd(method === 'attribution' ? 0.8 : 0.5);

  let lastQuoted = firstQuoted;
  let gapHasWords = false;
  let interleaved = false;
  for (let index = firstQuoted + 1; index < lines.length; index += 1) {
    if (isQuoted(index)) {
      if (gapHasWords && !isBrokenQuote(lines, lastQuoted, index)) interleaved = true;
      lastQuoted = index;
      gapHasWords = false;
    } else if ((lines[index] ?? '').trim() !== '') {
      gapHasWords = true;
    }
  }
  if (interleaved) return { ...everything(lines, 'interleaved', 0.5), language };
  const tail: [number, number] = [lastQuoted + 1, lines.length];
  const rest = hasWords(lines, tail[0], tail[1]);
  return {
    keep: rest ? [head, tail] : [head],
    partial,
    method,
    confidence: method === 'attribution' ? (rest ? 0.85 : 0.95) : 0.75,
    language,
  };
}

/** Links and hard wraps that lost their mark: part of the quotation, no answer between its lines. */
function isBrokenQuote(lines: readonly string[], before: number, after: number): boolean {
  const gap = lines.slice(before + 1, after).filter((line) => line.trim() !== '');
  if (gap.length > 2) return false;
  const quoted = lines[before] ?? '';
  const opensLink = /\(\s*<?https?:[^)\s]*$/i.test(quoted) || /<https?:[^>\s]*$/i.test(quoted);
  const isLink = /^\s*[(<[]\s*https?:/i.test(gap[0] ?? '');
  const wrapped =
    gap.length === 1 && after === before + 2 && quoted.length >= 60 && (gap[0] ?? '').length < 40;
  return opensLink || isLink || wrapped;
}
