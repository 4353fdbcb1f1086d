import type { PatternAnswer } from './pattern-tests';

/** What a worker that matches patterns is started with. */
export interface PatternWorkerData {
  patterns: true;
}

export interface PatternJob {
  texts: string[];
  tests: [pattern: string, text: number][];
  /** A cell for each test, filled as it is answered: what is there when a worker is ended counts. */
  answers: SharedArrayBuffer;
}

const CODES = { unknown: 0, no: 1, yes: 2 } as const;

export function encodeAnswer(answer: PatternAnswer): number {
  return answer === null ? CODES.unknown : answer ? CODES.yes : CODES.no;
}

export function decodeAnswer(code: number | undefined): PatternAnswer {
  return code === CODES.yes ? true : code === CODES.no ? false : null;
}
