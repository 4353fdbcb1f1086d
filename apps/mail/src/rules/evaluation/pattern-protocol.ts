import type { PatternAnswer } from './pattern-tests';

/** Start parameters of a pattern-matching worker. */
export interface PatternWorkerData {
  patterns: true;
}

export interface PatternJob {
  texts: string[];
  tests: [pattern: string, text: number][];
  /** One cell per test, filled as it is answered; filled cells count even if the worker is terminated. */
  answers: SharedArrayBuffer;
}

const CODES = { unknown: 0, no: 1, yes: 2 } as const;

export function encodeAnswer(answer: PatternAnswer): number {
  return answer === null ? CODES.unknown : answer ? CODES.yes : CODES.no;
}

export function decodeAnswer(code: number | undefined): PatternAnswer {
  return code === CODES.yes ? true : code === CODES.no ? false : null;
}
