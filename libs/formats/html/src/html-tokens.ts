/** A piece of HTML source; concatenating the sources of all tokens gives the input back. */
export interface HtmlToken {
  type: 'text' | 'open' | 'close' | 'other';
  /** Lower-case tag name; empty for text and for comments, declarations and instructions (`other`). */
  name: string;
  start: number;
  end: number;
  /** For `open`: the source between the name and the closing bracket. */
  attributes: string;
}

/** Elements whose content is not markup (HTML Living Standard §13.2.5). */
const RAW_TEXT = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
]);

/** Elements without content and end tag. */
export const VOID_ELEMENTS: ReadonlySet<string> = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'param',
  'source',
  'track',
  'wbr',
]);

/**
 * Cuts HTML into tags and text in one pass without building a tree, so that neither depth nor size costs a stack.
 * Never throws. The attributes are not interpreted; unterminated tags and comments become text or end with the input.
 */
export function htmlTokens(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = [];
  // Where a search for a terminator failed once, it fails for the rest of the input too: looking again would be quadratic.
  const exhausted = new Set<string>();
  const find = (needle: string, from: number): number => {
    if (exhausted.has(needle)) return -1;
    const at = html.indexOf(needle, from);
    if (at < 0) exhausted.add(needle);
    return at;
  };
  let position = 0;
  let textStart = 0;
  const flush = (end: number) => {
    if (end > textStart)
      tokens.push({ type: 'text', name: '', start: textStart, end, attributes: '' });
  };
  while (position < html.length) {
    const open = html.indexOf('<', position);
    if (open < 0) break;
    const token = readTag(html, open, find);
    if (token === null) {
      position = open + 1;
      continue;
    }
    flush(open);
    tokens.push(token);
    position = token.end;
    textStart = position;
    if (token.type === 'open' && RAW_TEXT.has(token.name)) {
      const end = findEndTag(html, token.name, position, exhausted);
      if (end > position)
        tokens.push({ type: 'other', name: '', start: position, end, attributes: '' });
      position = end;
      textStart = end;
    }
  }
  flush(html.length);
  return tokens;
}

function readTag(
  html: string,
  at: number,
  find: (needle: string, from: number) => number,
): HtmlToken | null {
  const next = html.charCodeAt(at + 1);
  if (html.startsWith('<!--', at)) return other(html, at, find('-->', at + 4), 3);
  if (next === 0x21 || next === 0x3f) return other(html, at, find('>', at + 2), 1);
  const closing = next === 0x2f;
  const nameStart = at + (closing ? 2 : 1);
  if (!isLetter(html.charCodeAt(nameStart))) return null;
  let nameEnd = nameStart + 1;
  while (nameEnd < html.length && !/[\s/>]/.test(html.charAt(nameEnd))) nameEnd += 1;
  const end = findTagEnd(html, nameEnd);
  const name = html.slice(nameStart, nameEnd).toLowerCase();
  return {
    type: closing ? 'close' : 'open',
    name,
    start: at,
    end,
    attributes: closing ? '' : html.slice(nameEnd, end).replace(/\/?>$/, ''),
  };
}

function other(html: string, start: number, found: number, length: number): HtmlToken {
  const end = found < 0 ? html.length : found + length;
  return { type: 'other', name: '', start, end, attributes: '' };
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** The bracket that ends a tag; brackets in quoted attribute values do not. */
function findTagEnd(html: string, from: number): number {
  let quote = '';
  let afterEquals = false;
  for (let index = from; index < html.length; index += 1) {
    const char = html.charAt(index);
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '>') {
      return index + 1;
    } else if ((char === '"' || char === "'") && afterEquals) {
      quote = char;
    }
    if (quote === '' && !/\s/.test(char)) afterEquals = char === '=';
  }
  return html.length;
}

function findEndTag(html: string, name: string, from: number, exhausted: Set<string>): number {
  const key = `</${name}`;
  if (exhausted.has(key)) return html.length;
  const pattern = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  pattern.lastIndex = from;
  const match = pattern.exec(html);
  if (match) return match.index;
  exhausted.add(key);
  return html.length;
}

/** The value of an attribute in the source of an opening tag, null when it is absent; entities are not decoded. */
export function attributeValue(attributes: string, name: string): string | null {
  const pattern = new RegExp(
    `(?:^|[\\s"'/])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`,
    'i',
  );
  const match = pattern.exec(attributes.length > 4000 ? attributes.slice(0, 4000) : attributes);
  return match ? (match[1] ?? match[2] ?? match[3] ?? '') : null;
}
