import { MAX_HTML_LENGTH, VOID_ELEMENTS, type HtmlToken } from '@dak/formats/html';

import { htmlLines, type HtmlLine } from './html-lines';
import { findNewLines, type ExtractionMethod, type NewLines } from './new-lines';

/** The HTML counterpart of `ReplyText`; `html` is never without text when the original has some. */
export interface ReplyHtml {
  /** Source of the new part, elements balanced as far as the original was; not sanitized. */
  html: string;
  method: ExtractionMethod;
  confidence: number;
  language: string | null;
}

/**
 * The new part of an HTML reply. The lines that a reader sees go through the same rules as plain text, with
 * quotations and the containers of mail programs as hints; then the source of the old lines is taken out. Works on
 * the token sequence, so that broken or deeply nested HTML costs no more than its length.
 */
export function newHtmlOfReply(html: string): ReplyHtml {
  if (html.length > MAX_HTML_LENGTH) {
    return { html, method: 'none', confidence: 0, language: null };
  }
  const { lines, tokens } = htmlLines(html);
  const found = findNewLines(
    lines.map((line) => line.text),
    lines.map((line) => line.hints),
  );
  const { method, confidence, language } = found;
  const removed = removedRanges(lines, found);
  const kept = removed.length === 0 ? html : withoutRanges(html, tokens, removed);
  return { html: kept, method, confidence, language };
}

interface Range {
  start: number;
  end: number;
}

function removedRanges(lines: readonly HtmlLine[], found: NewLines): Range[] {
  const removed: Range[] = [];
  let next = 0;
  const removeLines = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) {
      const line = lines[index];
      if (!line) continue;
      const from = found.partial?.line === index ? found.partial.column : 0;
      removed.push(...(from === 0 ? line.pieces : piecesAfter(line, from)));
    }
  };
  for (const [from, to] of found.keep) {
    removeLines(next, from);
    next = to;
  }
  removeLines(next, lines.length);
  return removed;
}

/** The pieces of a shared line behind the given character of its text; a piece across the border is cut at the last "On ". */
function piecesAfter(line: HtmlLine, column: number): Range[] {
  let length = 0;
  const after: Range[] = [];
  for (const piece of line.pieces) {
    const begins = length;
    length += piece.text.length;
    if (begins >= column) after.push(piece);
    else if (length > column) {
      const inside = piece.text.indexOf('On ', Math.max(0, column - begins - 1));
      const share = inside < 0 ? 1 : inside / piece.text.length;
      after.push({
        start: piece.start + Math.floor((piece.end - piece.start) * share),
        end: piece.end,
      });
    }
  }
  return after;
}

/** Takes the ranges out of the source and with them the elements that held nothing else. */
function withoutRanges(
  html: string,
  tokens: readonly HtmlToken[],
  removed: readonly Range[],
): string {
  const output: string[] = [];
  const open: { name: string; at: number; hasKept: boolean; hasRemoved: boolean }[] = [];
  const openNames = new Map<string, number>();
  let range = 0;
  const note = (kept: boolean, dropped: boolean) => {
    const element = open.at(-1);
    if (!element) return;
    element.hasKept ||= kept;
    element.hasRemoved ||= dropped;
  };
  for (const token of tokens) {
    if (token.type === 'open' && !VOID_ELEMENTS.has(token.name)) {
      open.push({ name: token.name, at: output.length, hasKept: false, hasRemoved: false });
      openNames.set(token.name, (openNames.get(token.name) ?? 0) + 1);
      output.push(html.slice(token.start, token.end));
      continue;
    }
    if (token.type === 'close') {
      if ((openNames.get(token.name) ?? 0) === 0) continue;
      let element = open.pop();
      while (element) {
        openNames.set(element.name, (openNames.get(element.name) ?? 1) - 1);
        const isEmptied = element.hasRemoved && !element.hasKept;
        if (isEmptied) output.length = element.at;
        else if (element.name === token.name) output.push(html.slice(token.start, token.end));
        note(element.hasKept, element.hasRemoved);
        if (element.name === token.name) break;
        element = open.pop();
      }
      continue;
    }
    while (range < removed.length && (removed[range]?.end ?? 0) <= token.start) range += 1;
    let position = token.start;
    let dropped = false;
    for (let index = range; index < removed.length; index += 1) {
      const piece = removed[index];
      if (!piece || piece.start >= token.end) break;
      output.push(html.slice(position, Math.max(position, piece.start)));
      position = Math.min(token.end, Math.max(position, piece.end));
      dropped = true;
    }
    const rest = html.slice(position, token.end);
    if (rest !== '') output.push(rest);
    const isContent =
      token.type === 'text' ? rest.trim() !== '' : token.name === 'img' && rest !== '';
    note(isContent, dropped);
  }
  return output.join('');
}
