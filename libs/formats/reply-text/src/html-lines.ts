import { attributeValue, htmlTokens, VOID_ELEMENTS, type HtmlToken } from '@dak/formats/html';

import type { LineHints } from './new-lines';

/** A line as the reader of the HTML sees it, with the source ranges that make it up. */
export interface HtmlLine {
  text: string;
  hints: LineHints;
  pieces: { start: number; end: number; text: string }[];
}

const BLOCKS = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'center',
  'dd',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figure',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'html',
  'li',
  'main',
  'nav',
  'ol',
  'p',
  'pre',
  'section',
  'table',
  'tbody',
  'tfoot',
  'thead',
  'tr',
  'ul',
  'br',
]);

/** Elements whose text is not displayed. */
const INVISIBLE = new Set([
  'head',
  'title',
  'style',
  'script',
  'template',
  'svg',
  'math',
  'object',
]);

/** Classes and ids of the element that holds the whole old mail, by program: Gmail, Yahoo, Proton, Tuta, Zoho, Apple, new Outlook, QQ. */
const OLD_MAIL_CLASS =
  /(?:^|\s)(?:x_)*(?:gmail_quote(?:_container)?|yahoo_quoted|yahoo_quoted_begin|protonmail_quote|tutanota_quote|zmail_extra|gmail_extra_quote|quoted-mail|outlook_quote|ms-outlook-mobile-reference-message|mail_quote|hcsdivquote|rediff_quote)(?:\s|$)/;
const OLD_MAIL_ID =
  /^(?:x_)*(?:OLK_SRC_BODY_SECTION|mail-editor-reference-message-container|yahoo_quoted_\d+|isReplyContent|qq_mail_quote|ms-outlook-mobile-reference-message|reply-quote)$/;
/** Outlook's markers stand before the old mail and not around it. */
const OLD_MAIL_START_ID = /^(?:x_)*(?:divRplyFwdMsg|appendonsend|replySplit|stopSpelling)$/;

/** A horizontal rule as plain text shows it; the rules for separators know it. */
const RULE = '_'.repeat(20);

interface OpenElement {
  name: string;
  hint: keyof LineHints | null;
  invisible: boolean;
}

/** Breaks HTML into the lines of its text, linear in its length. */
export function htmlLines(html: string): { lines: HtmlLine[]; tokens: HtmlToken[] } {
  const tokens = htmlTokens(html);
  const reader = new LineReader(html);
  for (const token of tokens) reader.read(token);
  return { lines: reader.finish(), tokens };
}

class LineReader {
  private readonly lines: HtmlLine[] = [];
  private readonly open: OpenElement[] = [];
  private readonly openNames = new Map<string, number>();
  private readonly hintDepth: Record<keyof LineHints, number> = {
    quoted: 0,
    maybeQuoted: 0,
    oldMail: 0,
    oldMailStart: 0,
  };
  private invisible = 0;
  private preformatted = 0;
  private pieces: HtmlLine['pieces'] = [];

  constructor(private readonly html: string) {}

  read(token: HtmlToken): void {
    switch (token.type) {
      case 'text':
        if (this.invisible === 0) this.readText(token);
        break;
      case 'open':
        this.readOpen(token);
        break;
      case 'close':
        this.close(token.name);
        break;
      case 'other':
        break;
    }
  }

  finish(): HtmlLine[] {
    this.endLine();
    return this.lines;
  }

  private readText(token: HtmlToken): void {
    const source = this.html.slice(token.start, token.end);
    if (this.preformatted === 0) {
      this.pieces.push({ start: token.start, end: token.end, text: visibleText(source) });
      return;
    }
    let from = 0;
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', from)) {
      this.pieces.push({
        start: token.start + from,
        end: token.start + at + 1,
        text: decodeEntities(source.slice(from, at)),
      });
      this.endLine(true);
      from = at + 1;
    }
    if (from < source.length) {
      this.pieces.push({
        start: token.start + from,
        end: token.end,
        text: decodeEntities(source.slice(from)),
      });
    }
  }

  private readOpen(token: HtmlToken): void {
    const { name } = token;
    if (BLOCKS.has(name)) this.endLine(name === 'br');
    else if (name === 'td' || name === 'th')
      this.pieces.push({ start: token.start, end: token.start, text: ' ' });
    if (VOID_ELEMENTS.has(name)) {
      if ((name === 'img' || name === 'hr') && this.invisible === 0) {
        this.pieces.push({ start: token.start, end: token.end, text: name === 'hr' ? RULE : '' });
        if (name === 'hr') this.endLine();
      }
      return;
    }
    const hint = hintOf(token);
    const invisible = INVISIBLE.has(name);
    this.open.push({ name, hint, invisible });
    this.openNames.set(name, (this.openNames.get(name) ?? 0) + 1);
    if (hint) this.hintDepth[hint] += 1;
    if (invisible) this.invisible += 1;
    if (name === 'pre') this.preformatted += 1;
  }

  private close(name: string): void {
    if (BLOCKS.has(name)) this.endLine();
    if ((this.openNames.get(name) ?? 0) === 0) return;
    for (let element = this.open.pop(); element !== undefined; element = this.open.pop()) {
      this.openNames.set(element.name, (this.openNames.get(element.name) ?? 1) - 1);
      // What follows Outlook's marker is old mail, so that this hint never ends.
      if (element.hint && element.hint !== 'oldMailStart') this.hintDepth[element.hint] -= 1;
      if (element.invisible) this.invisible -= 1;
      if (element.name === 'pre') this.preformatted -= 1;
      if (element.name === name) return;
    }
  }

  private endLine(keepEmpty = false): void {
    const text = this.pieces
      .map((piece) => piece.text)
      .join('')
      .replace(/ {2,}/g, ' ')
      .trim();
    const hasObject = this.pieces.some((piece) => piece.text === '' && piece.end > piece.start);
    if (text !== '' || hasObject || keepEmpty) {
      this.lines.push({
        text,
        hints: {
          quoted: this.hintDepth.quoted > 0,
          maybeQuoted: this.hintDepth.maybeQuoted > 0,
          oldMail: this.hintDepth.oldMail > 0,
          oldMailStart: this.hintDepth.oldMailStart > 0,
        },
        pieces: this.pieces,
      });
    }
    // White space between blocks belongs to no line and stays in the source.
    this.pieces = [];
  }
}

function hintOf(token: HtmlToken): keyof LineHints | null {
  if (token.attributes === '') return token.name === 'blockquote' ? 'quoted' : null;
  const className = attributeValue(token.attributes, 'class') ?? '';
  if (token.name === 'blockquote') {
    const cited = attributeValue(token.attributes, 'type')?.toLowerCase() === 'cite';
    // Gmail gives the class to a paragraph that the author indents, too.
    return !cited && /gmail_quote/.test(className) ? 'maybeQuoted' : 'quoted';
  }
  const id = attributeValue(token.attributes, 'id') ?? '';
  if (OLD_MAIL_START_ID.test(id)) return 'oldMailStart';
  return OLD_MAIL_CLASS.test(className) || OLD_MAIL_ID.test(id) ? 'oldMail' : null;
}

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

function decodeEntities(source: string): string {
  if (!source.includes('&')) return source;
  return source.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?/gi,
    (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? entity;
      const point = decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number(decimal);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
    },
  );
}

function visibleText(source: string): string {
  return decodeEntities(source).replace(/[\s\u00a0]+/g, ' ');
}
