import juice from 'juice';
import { InvalidError } from '@dak/kernel';
import { htmlTokens, VOID_ELEMENTS } from '@dak/formats/html';

const STYLE = /<style\b[^>]*>([\s\S]*?)<\/style\s*>/gi;
const MAX_SHEET_LENGTH = 64 * 1024;
/** Selectors times elements: matching takes about a microsecond for each pair. */
const MAX_MATCHES = 1_000_000;
const MAX_SELECTOR_LENGTH = 200;
const MAX_COMBINATORS = 6;
const MAX_DEPTH = 200;
/** These search the subtree of every element. */
const COSTLY_SELECTOR = /:(?:has|is|where|matches|not|contains|icontains)\(/i;

/**
 * Writes the rules of `<style>` elements into the style attributes of what they match: web mail drops
 * the elements. Rules for media and for states such as :hover have no place there and are left out.
 * Nothing is loaded: `@import` and linked style sheets are ignored.
 * @throws InvalidError for a sheet that would take too long to apply
 */
export function inlineStyleSheet(html: string, field: string): string {
  const sheet = [...html.matchAll(STYLE)].map(([, css]) => css ?? '').join('\n');
  if (sheet.trim() === '') return html;
  assertAffordable(html, sheet, field);
  return juice(html, {
    applyStyleTags: true,
    removeStyleTags: true,
    preserveMediaQueries: false,
    preserveFontFaces: false,
    preserveKeyFrames: false,
    preservePseudos: false,
    preserveImportant: false,
    inlinePseudoElements: false,
    resolveCSSVariables: false,
  });
}

function assertAffordable(html: string, sheet: string, field: string): void {
  const selectors = sheet
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('{')
    .slice(0, -1)
    .flatMap((before) => before.slice(before.lastIndexOf('}') + 1).split(','));
  const { elements, depth } = measure(html);
  const costly = selectors.find(
    (selector) =>
      selector.length > MAX_SELECTOR_LENGTH ||
      COSTLY_SELECTOR.test(selector) ||
      selector.trim().split(/[\s>+~]+/).length > MAX_COMBINATORS,
  );
  if (costly !== undefined) {
    throw tooCostly(field, `the selector "${costly.trim().slice(0, 60)}" is too complex`);
  }
  if (sheet.length > MAX_SHEET_LENGTH) {
    throw tooCostly(field, `it is longer than ${MAX_SHEET_LENGTH} characters`);
  }
  if (selectors.length * elements > MAX_MATCHES || depth > MAX_DEPTH) {
    throw tooCostly(field, 'there are too many rules and elements');
  }
}

function measure(html: string): { elements: number; depth: number } {
  let elements = 0;
  let open = 0;
  let depth = 0;
  for (const { type, name } of htmlTokens(html)) {
    if (type === 'open') {
      elements += 1;
      if (!VOID_ELEMENTS.has(name)) open += 1;
      depth = Math.max(depth, open);
    } else if (type === 'close' && open > 0) {
      open -= 1;
    }
  }
  return { elements, depth };
}

function tooCostly(field: string, why: string): InvalidError {
  return new InvalidError(
    `${field} has a style sheet that is not written into the mail because ${why}. Use style attributes instead.`,
    'invalid_template',
  );
}
