import Mustache from 'mustache';
import { InvalidError } from '@dak/kernel';
import type { TemplateVariable } from './template-variable';

/** A text with tags, read once; a template is data, there is nothing in it that runs. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** `name` is `.` for the item of the list itself. */
  | { readonly kind: 'value'; readonly name: string }
  /** `{{#name}}`, or inverted `{{^name}}`. */
  | {
      readonly kind: 'section';
      readonly name: string;
      readonly inverted: boolean;
      readonly parts: readonly TemplatePart[];
    };

/** A token of the mustache parser: type, value, start, end, and of a section its tokens. */
type Token = readonly [string, string, number, number, Token[]?, ...unknown[]];

const NAME = /^(?:\.|[A-Za-z_][A-Za-z0-9_]{0,63})$/;
const MAX_DEPTH = 10;
const MAX_TAGS = 5000;

/**
 * Reads a field of a template in the syntax of mustache(5), without tags that are neither a value nor a
 * section: unescaped values, partials, other delimiters.
 * @param field for the sentences, e.g. `body_html`
 * @param variables null when names need not be declared
 * @throws InvalidError `invalid_template` naming the field and the tag
 */
export function parseTags(
  source: string,
  field: string,
  variables: readonly TemplateVariable[] | null,
): TemplatePart[] {
  const declared =
    variables === null ? null : new Map(variables.map((variable) => [variable.name, variable]));
  let tags = 0;
  const read = (tokens: readonly Token[], inList: boolean, depth: number): TemplatePart[] =>
    tokens.flatMap((token): TemplatePart[] => {
      const [type, name, start, end, inner] = token;
      if (type === 'text') return [{ kind: 'text', text: name }];
      if (type === '!') return [];
      const tag = source.slice(start, end).replace(/\s+/g, ' ').slice(0, 100);
      tags += 1;
      if (tags > MAX_TAGS) throw invalid(field, `has more than ${MAX_TAGS} tags. Shorten it.`);
      if (type !== 'name' && type !== '#' && type !== '^') throw invalid(field, refusal(type, tag));
      const variable = declared?.get(name);
      if (!NAME.test(name) || (name === '.' && !inList)) {
        throw invalid(field, `has the tag ${tag}, which names no variable. Use {{name}}.`);
      }
      if (declared !== null && variable === undefined && !inList) {
        throw invalid(
          field,
          `has the tag ${tag}, but variables declares no ${name}. Declare it or correct the name.`,
        );
      }
      if (type === 'name') {
        if (variable?.type === 'list') {
          throw invalid(
            field,
            `has the tag ${tag}, but ${name} is a list. Repeat a text for each item with {{#${name}}}{{.}}{{/${name}}}.`,
          );
        }
        return [{ kind: 'value', name }];
      }
      if (depth >= MAX_DEPTH) {
        throw invalid(field, `nests more than ${MAX_DEPTH} sections at the tag ${tag}.`);
      }
      const repeats = type === '#' && (variable === undefined || variable.type === 'list');
      const parts = read(inner ?? [], inList || repeats, depth + 1);
      return [{ kind: 'section', name, inverted: type === '^', parts }];
    });
  return read(tokensOf(source, field), false, 0);
}

function tokensOf(source: string, field: string): Token[] {
  const writer = new Mustache.Writer();
  // The parser's own cache keeps every template that any tenant ever had.
  Object.assign(writer, { templateCache: undefined });
  try {
    return writer.parse(source) as Token[];
  } catch (error) {
    const problem = error instanceof Error ? error.message : '';
    const place = /at (\d+)$/.exec(problem);
    const near =
      place === null
        ? ''
        : ` near "${source.slice(Number(place[1]) - 30, Number(place[1])).trim()}"`;
    throw invalid(
      field,
      `has a tag that does not close or closes nothing${near}: ${problem.replace(/ at \d+$/, '')}.`,
    );
  }
}

function refusal(type: string, tag: string): string {
  switch (type) {
    case '&':
      return `has the tag ${tag}, which would write a value unescaped. Use {{name}}.`;
    case '>':
      return `has the tag ${tag}: a template cannot include another one. Write its text here.`;
    case '=':
      return `has the tag ${tag}: the delimiters of tags are always {{ and }}.`;
    default:
      return `has the tag ${tag}, which is neither a value {{name}} nor a section {{#name}}…{{/name}}.`;
  }
}

function invalid(field: string, problem: string): InvalidError {
  return new InvalidError(`${field} ${problem}`, 'invalid_template');
}
