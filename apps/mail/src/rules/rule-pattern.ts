import { RE2JS } from 're2js';
import { InvalidError } from '@dak/kernel';

const MAX_LENGTH = 1_000;
/** Instructions of a compiled expression; matching takes time in proportion to them and to the text. */
const MAX_PROGRAM = 1_000;
/** Characters × instructions of one match: some 50 ms at worst. */
const MAX_WORK = 20_000_000;
/** Characters of a text that an expression looks at. */
export const PATTERN_TEXT_LENGTH = 65_536;
const MAX_CACHED = 2_000;

const compiled = new Map<string, RE2JS>();

/**
 * Refuses what cannot be compiled or would be slow. RE2 syntax: linear in the text, so neither back
 * references nor look-around.
 * @throws InvalidError naming `field`
 */
export function checkPattern(field: string, source: string): void {
  if (source.length > MAX_LENGTH) {
    throw new InvalidError(
      `${field} must be a regular expression of at most ${MAX_LENGTH} characters.`,
    );
  }
  let pattern: RE2JS;
  try {
    pattern = compile(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    throw new InvalidError(
      `${field} must be a regular expression (RE2 syntax, without back references and look-around): ${reason.slice(0, 200)}.`,
    );
  }
  if (pattern.programSize() > MAX_PROGRAM) {
    throw new InvalidError(`${field} is too large a regular expression: use smaller repetitions.`);
  }
}

/** Whether the expression matches anywhere in the beginning of the text. */
export function matchesPattern(source: string, text: string): boolean {
  const pattern = compile(source);
  const length = Math.min(PATTERN_TEXT_LENGTH, Math.floor(MAX_WORK / (pattern.programSize() + 1)));
  return pattern.matcher(text.length > length ? text.slice(0, length) : text).find();
}

function compile(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = RE2JS.compile(source);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}
