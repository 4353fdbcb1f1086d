import { RE2JS } from 're2js';
import { InvalidError } from '@dak/kernel';

const MAX_LENGTH = 1_000;
/** Instructions of the compiled expressions of a rule; matching takes time in proportion to them and to the text. */
const MAX_PROGRAM = 2_000;
/** Characters of a text that an expression examines. */
const MAX_TEXT = 65_536;
/** Characters × instructions of one match: some 100 ms at worst. */
const MAX_WORK = 4_000_000;
/** Budget of all matches for one mail. */
const MAX_WORK_PER_MAIL = 20_000_000;
const MAX_CACHED = 2_000;

const compiled = new Map<string, RE2JS>();

/** Counted in characters × instructions, not in time: the same mail has the same verdicts on every machine. */
export interface PatternBudget {
  left: number;
}

/** Budget of all rules evaluated for one mail. */
export function patternBudget(): PatternBudget {
  return { left: MAX_WORK_PER_MAIL };
}

/**
 * Refuses what cannot be compiled or would be slow. RE2 syntax: linear in the text, so neither back
 * references nor look-around.
 * @returns instructions of the compiled expression
 * @throws InvalidError naming `field`
 */
export function checkPattern(field: string, source: string): number {
  if (source.length > MAX_LENGTH) {
    throw new InvalidError(
      `${field} must be a regular expression of at most ${MAX_LENGTH} characters.`,
    );
  }
  try {
    return compile(source).programSize();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    throw new InvalidError(
      `${field} must be a regular expression (RE2 syntax, without back references and look-around): ${reason.slice(0, 200)}.`,
    );
  }
}

/** @param instructions of all expressions of a rule. @throws InvalidError */
export function checkProgram(instructions: number): void {
  if (instructions <= MAX_PROGRAM) return;
  throw new InvalidError(
    'conditions have too large regular expressions: use smaller repetitions, or fewer of them.',
  );
}

/**
 * Whether the expression matches anywhere in the beginning of the text; null when the budget has not
 * enough left to tell.
 */
export function matchesPattern(
  source: string,
  text: string,
  budget: PatternBudget,
): boolean | null {
  const { length, work } = effortOf(source, text);
  if (work > budget.left) return null;
  budget.left -= work;
  return compile(source)
    .matcher(text.length > length ? text.slice(0, length) : text)
    .find();
}

/** The part of a text that an expression examines, and its cost in characters × instructions. */
export function effortOf(source: string, text: string): { length: number; work: number } {
  const instructions = compile(source).programSize() + 1;
  const length = Math.min(text.length, MAX_TEXT, Math.floor(MAX_WORK / instructions));
  return { length, work: length * instructions };
}

function compile(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = RE2JS.compile(source);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}
