import { InvalidError } from '@dak/kernel';
import {
  attributeValue,
  htmlTokens,
  MAX_HTML_LENGTH,
  VOID_ELEMENTS,
  type HtmlToken,
} from '@dak/formats/html';
import {
  isFor,
  parseDeclarations,
  parseStyleSheet,
  type Declaration,
  type StyledElement,
  type StyleRule,
} from './style-sheet';

const MAX_SHEET_LENGTH = 64 * 1024;
/** Rules times elements; a newsletter has some ten thousand. */
const MAX_MATCHES = 300_000;
/** Characters of the result; the sanitizer takes no more. */
const MAX_LENGTH = MAX_HTML_LENGTH;
const MAX_DEPTH = 100;
/** Elements whose end tag is often left out; the next sibling ends them. */
const ENDED_BY_SIBLING: ReadonlySet<string> = new Set(['p', 'li', 'td', 'th', 'tr', 'dt', 'dd']);

/**
 * Writes the rules of `<style>` elements into the style attributes of matching elements, because web mail drops
 * `<style>`. An existing attribute wins, unless the rule says `!important`.
 * Nothing is loaded. The result has to be sanitized.
 * @throws InvalidError for a sheet that would take too long to apply
 */
export function inlineStyleSheet(html: string, field: string): string {
  if (!/<style/i.test(html)) return html;
  const tokens = htmlTokens(html);
  const sheet = styleSheets(tokens)
    .map(({ start, end }) => html.slice(start, end))
    .join('\n');
  if (sheet.trim() === '') return html;
  if (sheet.length > MAX_SHEET_LENGTH) {
    throw tooCostly(field, `it is longer than ${MAX_SHEET_LENGTH} characters`);
  }
  const rules = parseStyleSheet(sheet).sort((one, other) => one.weight - other.weight);
  if (rules.length * tokens.filter(({ type }) => type === 'open').length > MAX_MATCHES) {
    throw tooCostly(field, 'there are too many rules and elements');
  }
  const path: StyledElement[] = [];
  const pieces: string[] = [];
  let length = 0;
  for (const token of tokens) {
    const source = html.slice(token.start, token.end);
    length += source.length;
    if (token.type === 'close') close(path, token.name);
    if (token.type !== 'open') {
      pieces.push(source);
      continue;
    }
    const { name, attributes } = token;
    if (ENDED_BY_SIBLING.has(name) && path.at(-1)?.name === name) path.pop();
    path.push(elementOf(name, attributes));
    if (path.length > MAX_DEPTH) throw tooCostly(field, 'elements are nested too deeply');
    const style = styleOf(rules, path, attributeValue(attributes, 'style') ?? '');
    length += style?.length ?? 0;
    if (length > MAX_LENGTH)
      throw tooCostly(field, `it makes the mail longer than ${MAX_LENGTH} characters`);
    // If an attribute occurs twice, the first counts (HTML Living Standard §13.2.5.33).
    pieces.push(
      style === null
        ? source
        : `<${name} style="${style.replaceAll('"', '&quot;')}"${source.slice(name.length + 1)}`,
    );
    if (VOID_ELEMENTS.has(name)) path.pop();
  }
  return pieces.join('');
}

/** The content of the `<style>` elements. */
export function styleSheets(tokens: readonly HtmlToken[]): HtmlToken[] {
  return tokens.filter(({ type }, index) => {
    const before = tokens[index - 1];
    return type === 'other' && before?.type === 'open' && before.name === 'style';
  });
}

/** null when no rule is for the element. */
function styleOf(
  rules: readonly StyleRule[],
  path: readonly StyledElement[],
  own: string,
): string | null {
  const found = rules.filter((rule) => isFor(rule, path)).flatMap((rule) => rule.declarations);
  if (found.length === 0) return null;
  const settled = new Map<string, string>();
  const put = ({ property, value }: Declaration): void => {
    // The last one is to come last: `margin` after `margin-top` takes it back.
    settled.delete(property);
    settled.set(property, value);
  };
  found.filter(({ isImportant }) => !isImportant).forEach(put);
  parseDeclarations(own).forEach(put);
  found.filter(({ isImportant }) => isImportant).forEach(put);
  return [...settled].map(([property, value]) => `${property}:${value}`).join(';');
}

function elementOf(name: string, attributes: string): StyledElement {
  const classes = attributeValue(attributes, 'class')?.split(/\s+/) ?? [];
  return { name, id: attributeValue(attributes, 'id') ?? '', classes: new Set(classes) };
}

/** An end tag also closes open elements inside its element; without a matching element it closes nothing. */
function close(path: StyledElement[], name: string): void {
  const at = path.findLastIndex((element) => element.name === name);
  if (at >= 0) path.length = at;
}

function tooCostly(field: string, why: string): InvalidError {
  return new InvalidError(
    `${field} has a style sheet that is not written into the mail because ${why}. Use style attributes instead.`,
    'invalid_template',
  );
}
