/** One element as selectors see it. */
export interface StyledElement {
  readonly name: string;
  readonly id: string;
  readonly classes: ReadonlySet<string>;
}

export interface Declaration {
  readonly property: string;
  readonly value: string;
  readonly isImportant: boolean;
}

/** A rule with one selector, which is a chain of elements from the outermost to the one it is for. */
export interface StyleRule {
  readonly steps: readonly SelectorStep[];
  readonly declarations: readonly Declaration[];
  /** Orders rules: ids, then classes, then names, then the position in the sheet (CSS Selectors §16). */
  readonly weight: number;
}

interface SelectorStep {
  /** null = any. */
  readonly name: string | null;
  readonly id: string | null;
  readonly classes: readonly string[];
  /** The step before must match the parent, not just some ancestor. */
  readonly isChild: boolean;
}

const MAX_STEPS = 5;
/** Of one rule. */
const MAX_DECLARATIONS = 50;
const STEP = /^(?:\*|[a-z][a-z0-9]*)?(?:[.#][a-z_-][\w-]*)*$/i;

/**
 * The rules that can be written into style attributes: selectors of names, classes and ids, with
 * descendant and child combinators. Rules for states, media and other selectors are left out, as are
 * `@import`, `@font-face` and the like.
 */
export function parseStyleSheet(css: string): StyleRule[] {
  const source = css.replace(/\/\*[\s\S]*?(?:\*\/|$)|<!--|-->/g, ' ');
  const rules: StyleRule[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('{', at);
    const end = source.indexOf(';', at);
    const isAtRule = /^\s*@/.test(source.slice(at, at + 200));
    if (isAtRule && end >= 0 && (open < 0 || end < open)) {
      at = end + 1;
      continue;
    }
    if (open < 0) break;
    const close = isAtRule ? endOfBlock(source, open) : source.indexOf('}', open);
    const until = close < 0 ? source.length : close;
    if (!isAtRule) {
      const declarations = parseDeclarations(source.slice(open + 1, until)).slice(
        0,
        MAX_DECLARATIONS,
      );
      for (const selector of source.slice(at, open).split(',')) {
        const steps = declarations.length === 0 ? null : parseSelector(selector);
        if (steps === null) continue;
        rules.push({ steps, declarations, weight: weightOf(steps) + rules.length });
      }
    }
    at = until + 1;
  }
  return rules;
}

/** The declarations of a rule or of a style attribute, as they are written. */
export function parseDeclarations(css: string): Declaration[] {
  return css.split(';').flatMap((part) => {
    const colon = part.indexOf(':');
    const property = part.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const written = part.slice(colon + 1).trim();
    const value = written.replace(/\s*!\s*important$/i, '');
    if (property === '' || value === '') return [];
    return [{ property, value, isImportant: value !== written }];
  });
}

/** Whether a rule is for the last of `path`, the open elements from the outermost on. */
export function isFor({ steps }: StyleRule, path: readonly StyledElement[]): boolean {
  const last = steps.at(-1)!;
  if (!matches(last, path.at(-1)!)) return false;
  // Places at which the step after the current one matches.
  let places = [path.length - 1];
  for (let index = steps.length - 2; index >= 0; index -= 1) {
    const step = steps[index]!;
    const candidates = steps[index + 1]!.isChild
      ? places.map((place) => place - 1)
      : range(Math.max(...places));
    places = candidates.filter((place) => place >= 0 && matches(step, path[place]!));
    if (places.length === 0) return false;
  }
  return true;
}

function matches(step: SelectorStep, element: StyledElement): boolean {
  return (
    (step.name === null || step.name === element.name) &&
    (step.id === null || step.id === element.id) &&
    step.classes.every((name) => element.classes.has(name))
  );
}

function parseSelector(selector: string): SelectorStep[] | null {
  const parts = selector
    .trim()
    .replace(/\s*>\s*/g, ' >')
    .split(/\s+/);
  if (parts.length > MAX_STEPS) return null;
  const steps: SelectorStep[] = [];
  for (const part of parts) {
    const isChild = part.startsWith('>');
    const compound = isChild ? part.slice(1) : part;
    if (compound === '' || (isChild && steps.length === 0) || !STEP.test(compound)) return null;
    const name = /^[^.#]*/.exec(compound)![0].toLowerCase();
    const marks = compound.slice(name.length).match(/[.#][^.#]+/g) ?? [];
    const ids = marks.filter((mark) => mark.startsWith('#'));
    if (ids.length > 1) return null;
    steps.push({
      name: name === '' || name === '*' ? null : name,
      id: ids[0]?.slice(1) ?? null,
      classes: marks.filter((mark) => mark.startsWith('.')).map((mark) => mark.slice(1)),
      isChild,
    });
  }
  return steps;
}

function weightOf(steps: readonly SelectorStep[]): number {
  return steps.reduce(
    (sum, { name, id, classes }) =>
      sum + (id === null ? 0 : 1e12) + classes.length * 1e9 + (name === null ? 0 : 1e6),
    0,
  );
}

function endOfBlock(source: string, open: number): number {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    const char = source[at];
    if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
