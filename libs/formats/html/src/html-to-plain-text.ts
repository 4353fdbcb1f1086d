import { compile } from 'html-to-text';

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: 4 * 1024 * 1024, maxDepth: 200 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'img', format: 'skip' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'table', options: { uppercaseHeaderCells: false } },
  ],
});

/** The text/plain alternative of an HTML body; unwrapped lines, LF. */
export function htmlToPlainText(html: string): string {
  return convert(html).trim();
}
