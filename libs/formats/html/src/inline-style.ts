/** Properties that change how the text of a mail looks and nothing outside it. */
const PROPERTIES = new Set([
  'color',
  'background-color',
  'background',
  'font',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'font-variant',
  'text-align',
  'text-decoration',
  'text-indent',
  'text-transform',
  'line-height',
  'letter-spacing',
  'word-spacing',
  'white-space',
  'word-break',
  'overflow-wrap',
  'word-wrap',
  'vertical-align',
  'direction',
  'margin',
  'margin-top',
  'margin-right',
  'margin-bottom',
  'margin-left',
  'padding',
  'padding-top',
  'padding-right',
  'padding-bottom',
  'padding-left',
  'border',
  'border-top',
  'border-right',
  'border-bottom',
  'border-left',
  'border-color',
  'border-style',
  'border-width',
  'border-radius',
  'border-collapse',
  'border-spacing',
  'width',
  'max-width',
  'min-width',
  'height',
  'max-height',
  'min-height',
  'list-style-type',
  'table-layout',
  'display',
]);

/** Letters, numbers, units, colors, quoted font names and the color functions; no url(), no escape, no at-rule. */
const VALUE = /^(?:[\w\s#%.,!+/'"-]|\b(?:rgb|rgba|hsl|hsla)\([\d\s.,%/]+\))+$/i;

/** `display: none` hides text from the person that the machine still reads; hidden instructions must be visible. */
const HIDING = /^(?:none|contents)$/i;

/**
 * The declarations of a style attribute that are harmless, in canonical form ("color:red;margin:0"); empty when
 * none is. A declaration that does not match entirely is dropped, so that no CSS parser is needed to be safe.
 */
export function safeInlineStyle(style: string): string {
  const kept: string[] = [];
  for (const declaration of style.slice(0, 4096).split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const property = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .trim()
      .replace(/\s+/g, ' ');
    if (!PROPERTIES.has(property) || value === '' || value.length > 300 || !VALUE.test(value))
      continue;
    if (property === 'display' && HIDING.test(value)) continue;
    if (((value.match(/"/g) ?? []).length | (value.match(/'/g) ?? []).length) % 2 === 1) continue;
    kept.push(`${property}:${value}`);
  }
  return kept.join(';');
}
