import { compile } from 'html-to-text';

import { htmlTokens } from './html-tokens';
import { limitNesting, type NestingLimits } from './limit-nesting';

/** Characters of source that are converted; longer HTML is cut there. Nobody reads on, and the tree costs memory. */
export const MAX_HTML_LENGTH = 1024 * 1024;

/** Nesting that is converted. Newsletters reach 60 levels of tables. */
const MAX_DEPTH = 200;

/** Rows and cells are not counted as nesting, so that the tree is up to four times as deep; the converter's recursion overflows near 3 000. */
const MAX_TREE_DEPTH = 1000;

const LIMITS: NestingLimits = {
  maxDepth: MAX_DEPTH,
  // An element costs up to 15 microseconds and 200 bytes.
  maxElements: 32_000,
  // Every level of these puts its own mark before every line below it: 10 000 nested lists took 9 s.
  maxDepthOf: new Map([
    ['ul', 8],
    ['ol', 8],
    ['blockquote', 8],
  ]),
};

function converter(blockquote: 'blockquote' | 'block'): (html: string) => string {
  return compile({
    wordwrap: false,
    preserveNewlines: false,
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
      { selector: 'hr', options: { length: 20 } },
      { selector: 'blockquote', format: blockquote },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      ...['head', 'title', 'style', 'script', 'svg', 'math', 'template', 'object'].map(
        (selector) => ({ selector, format: 'skip' }),
      ),
    ],
    limits: { maxInputLength: MAX_HTML_LENGTH + 1, maxDepth: MAX_TREE_DEPTH, ellipsis: '' },
  });
}

const convertMarked = converter('blockquote');
const convertPlain = converter('block');

export interface HtmlToTextOptions {
  /** Whether quotations are marked by "> "; default true. */
  quoteMarks?: boolean;
}

/**
 * The text that a reader of the HTML sees, with quotations marked by "> " unless told
 * otherwise. Bounded in time and memory: source beyond
 * 1 MiB, nesting beyond 200 levels (flattened, the text is kept) and markup beyond 32 000 elements are left out.
 * Never throws; when the converter fails, the text between the tags is returned.
 */
export function htmlToText(html: string, options: HtmlToTextOptions = {}): string {
  const convert = options.quoteMarks === false ? convertPlain : convertMarked;
  const bounded = limitNesting(html.slice(0, MAX_HTML_LENGTH), LIMITS);
  try {
    return tidy(convert(bounded));
  } catch {
    return tidy(textBetweenTags(bounded));
  }
}

function textBetweenTags(html: string): string {
  return htmlTokens(html)
    .filter((token) => token.type === 'text')
    .map((token) => html.slice(token.start, token.end))
    .join(' ');
}

function tidy(text: string): string {
  return text
    .replace(/[ \t\u00a0]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
