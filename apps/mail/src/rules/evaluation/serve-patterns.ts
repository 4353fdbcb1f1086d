import { parentPort } from 'node:worker_threads';
import { encodeAnswer, type PatternJob } from './pattern-protocol';
import { runPatternTests } from './pattern-tests';
import { makeThreadYield } from './yielding-thread';

/** Rules can wait; other work has someone waiting for it. */
const NICENESS = 10;

/** Answers the jobs of a `PatternMatcher` inside a worker thread. */
export function servePatterns(): void {
  const port = parentPort;
  if (port === null) throw new Error('Patterns are served inside a worker thread.');
  makeThreadYield(NICENESS);
  port.on('message', ({ texts, tests, answers }: PatternJob) => {
    const cells = new Int8Array(answers);
    runPatternTests(
      tests.map(([pattern, text]) => ({ pattern, text: texts[text]! })),
      (index, answer) => {
        cells[index] = encodeAnswer(answer);
      },
    );
    port.postMessage(null);
  });
}
