import { DomainError } from '@dak/kernel';
import type { TemplatePart } from './template-tags';
import type { TemplateListItem, TemplateScalar, TemplateValue } from '@dak/contracts/api';

/**
 * Characters of one field, of which every tag counts for one at least, each time that it is filled in. Lists inside
 * lists multiply, and the sanitizer drops content beyond its limit, which is this one.
 */
export const MAX_RENDERED_LENGTH = 1024 * 1024;

/**
 * Fills in the values. A section shows for true, a number other than 0, a text that is not empty and
 * once for each item of a list; inside it a name is a field of the item first and a variable then.
 * @param write how a value is written, e.g. escaped for HTML
 * @throws DomainError `too_large`
 */
export function renderTags(
  parts: readonly TemplatePart[],
  values: ReadonlyMap<string, TemplateValue>,
  field: string,
  write: (value: string) => string,
): string {
  const pieces: string[] = [];
  let spent = 0;
  const spend = (characters: number): void => {
    spent += characters;
    if (spent > MAX_RENDERED_LENGTH) {
      throw new DomainError(
        'too_large',
        'body_too_large',
        `${field} becomes longer than ${MAX_RENDERED_LENGTH} characters with these template_variables. Send shorter lists.`,
      );
    }
  };
  const put = (piece: string): void => {
    // A value without text costs time too.
    spend(Math.max(1, piece.length));
    pieces.push(piece);
  };
  const render = (some: readonly TemplatePart[], items: readonly TemplateListItem[]): void => {
    for (const part of some) {
      if (part.kind === 'text') {
        put(part.text);
        continue;
      }
      const value = lookUp(part.name, items, values);
      if (part.kind === 'value') {
        put(write(textOf(value)));
        continue;
      }
      // So does a section that stays empty, and each of its items.
      spend(1);
      if (part.inverted) {
        if (!shows(value)) render(part.parts, items);
      } else if (isList(value)) {
        for (const item of value) {
          spend(1);
          render(part.parts, [...items, item]);
        }
      } else if (shows(value)) {
        render(part.parts, items);
      }
    }
  };
  render(parts, []);
  return pieces.join('');
}

function lookUp(
  name: string,
  items: readonly TemplateListItem[],
  values: ReadonlyMap<string, TemplateValue>,
): TemplateValue {
  const item = items.at(-1);
  if (name === '.') return item === undefined || isRecord(item) ? null : item;
  for (const candidate of items.toReversed()) {
    if (isRecord(candidate) && Object.hasOwn(candidate, name)) return candidate[name]!;
  }
  return values.get(name) ?? null;
}

function shows(value: TemplateValue): boolean {
  return isList(value) ? value.length > 0 : Boolean(value);
}

/** Numbers and booleans as in JSON; dates as they were given. */
function textOf(value: TemplateValue): string {
  return value === null || isList(value) ? '' : String(value);
}

function isList(value: TemplateValue): value is TemplateListItem[] {
  return Array.isArray(value);
}

function isRecord(item: TemplateListItem): item is Readonly<Record<string, TemplateScalar>> {
  return typeof item === 'object' && item !== null;
}
