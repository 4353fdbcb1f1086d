import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createPatternMatcher, matchInPlace, type PatternMatcher } from './pattern-matcher';
import type { PatternTest } from './pattern-tests';

const folder = mkdtempSync(join(tmpdir(), 'dak-patterns-'));
const workerFile = join(folder, 'worker.js');
const text = 'a'.repeat(60_000);
/** Each some hundred milliseconds of one processor. */
const costly = (count: number): PatternTest[] =>
  Array.from({ length: count }, (_, index) => ({
    pattern: `(?:a?){${300 + index}}b{2}`,
    text,
  }));

let matcher: PatternMatcher;

beforeAll(() => {
  const esbuild = join(dirname(require.resolve('esbuild/package.json')), 'bin', 'esbuild');
  const repository = resolve(__dirname, '../../../../..');
  execFileSync(esbuild, [
    join(__dirname, '../../mail-worker.ts'),
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--tsconfig=${join(repository, 'tsconfig.json')}`,
    `--outfile=${workerFile}`,
  ]);
});
afterEach(() => matcher.close());
afterAll(() => rmSync(folder, { recursive: true }));

describe('matching the expressions of rules', () => {
  it('leaves undecided what goes beyond the budget of a mail, and decides cheaper ones all the same', async () => {
    matcher = createPatternMatcher({ workerFile });
    const tests = [...costly(190), { pattern: 'a{5}', text }, { pattern: 'b{2}', text: 'abba' }];
    const answers = await matcher.match('one', tests);
    const given = tests.map(({ pattern, text: of }) => answers.answer(pattern, of));
    expect(given.at(-2)).toBe(true);
    expect(given.at(-1)).toBe(true);
    expect(given.filter((answer) => answer === null).length).toBeGreaterThan(100);
    const again = await matchInPlace.match('one', tests);
    expect(tests.map(({ pattern, text: of }) => again.answer(pattern, of))).toEqual(given);
  });

  it('keeps the thread it is called in free, and lets the organization rest', async () => {
    matcher = createPatternMatcher({ workerFile });
    await matcher.match('warm', [{ pattern: 'a{2}', text }]);
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const began = performance.now();
    await matcher.match('one', costly(190));
    const took = performance.now() - began;
    clearInterval(timer);
    expect(longest).toBeLessThan(Math.max(took / 2, 100));
    expect(matcher.isCostly('one')).toBe(took > 50);
    expect(matcher.isCostly('two')).toBe(false);
    await matcher.rest('two');
    const rested = performance.now();
    await matcher.rest('one');
    expect(performance.now() - rested).toBeGreaterThan(took);
  });

  it('yields the processors to every other thread', async () => {
    matcher = createPatternMatcher({ workerFile });
    await matcher.match('one', [{ pattern: 'a{2}', text }]);
    const niceness = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
    expect(Math.max(...niceness)).toBeGreaterThanOrEqual(10 + Math.min(...niceness));
  });

  it('ends what takes too long, keeps the answers before, and goes on', async () => {
    matcher = createPatternMatcher({ workerFile, timeoutMs: 1 });
    const tests = costly(50);
    const answers = await matcher.match('one', tests);
    expect(tests.map(({ pattern }) => answers.answer(pattern, text))).toContain(null);
    await matcher.close();
    matcher = createPatternMatcher({ workerFile });
    const [test] = tests;
    expect((await matcher.match('one', [test!])).answer(test!.pattern, text)).toBe(false);
  });
});
