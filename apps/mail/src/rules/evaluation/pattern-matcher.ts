import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../receiving/reading/fair-queue';
import { decodeAnswer, type PatternJob, type PatternWorkerData } from './pattern-protocol';
import {
  answersOf,
  isCheap,
  patternsInPlace,
  runPatternTests,
  type PatternAnswer,
  type PatternAnswers,
  type PatternTest,
} from './pattern-tests';

/** Evaluates rules' regular expressions on messages. */
export interface PatternMatcher {
  /** Not to be awaited inside a transaction. */
  match(organizationId: string, tests: readonly PatternTest[]): Promise<PatternAnswers>;
  /** The organization's expressions have taken long lately: its mail is to be taken in small groups. */
  isCostly(organizationId: string): boolean;
  /** Resolves when the organization has paused in proportion to its cost. Must not be awaited inside a transaction. */
  rest(organizationId: string): Promise<void>;
  close(): Promise<void>;
}

export interface PatternMatcherOptions {
  /** The bundled worker of the mail service. */
  workerFile: string;
  /** Milliseconds that the expressions for one message may take; they yield to everything else. @default 30000 */
  timeoutMs?: number;
}

interface WaitingJob extends PatternJob {
  readonly organizationId: string;
  readonly done: () => void;
}

/** Milliseconds of rest for each of work: an organization has at most a quarter of one processor. */
const REST_FACTOR = 3;
const MAX_REST_MS = 30_000;
/** Milliseconds of one message from which an organization counts as costly, and for how long. */
const COSTLY_MS = 50;
const COSTLY_FOR_MS = 60_000;
/** Milliseconds without work after which the worker goes. */
const IDLE_MS = 30_000;
const MAX_REMEMBERED = 10_000;

/**
 * Matches in a separate worker thread, organizations in turns. Every message has a budget in steps, which makes the
 * same verdicts on every machine, and a limit in time, which holds whatever that budget got wrong.
 */
export function createPatternMatcher({
  workerFile,
  timeoutMs = 30_000,
}: PatternMatcherOptions): PatternMatcher {
  const queue = new FairQueue<WaitingJob>(({ organizationId }) => organizationId);
  const costs = new Map<string, { freeAt: number; costlyUntil: number }>();
  let worker: Worker | null = null;
  let current: { job: WaitingJob; began: number; timer: NodeJS.Timeout } | null = null;
  let idleTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const noteCost = (organizationId: string, milliseconds: number) => {
    const now = performance.now();
    const known = costs.get(organizationId) ?? { freeAt: now, costlyUntil: 0 };
    if (costs.size >= MAX_REMEMBERED) costs.clear();
    costs.set(organizationId, {
      freeAt: Math.max(now, known.freeAt) + milliseconds * REST_FACTOR,
      costlyUntil: milliseconds > COSTLY_MS ? now + COSTLY_FOR_MS : known.costlyUntil,
    });
  };

  const finish = () => {
    if (current === null) return;
    const { job, began, timer } = current;
    current = null;
    clearTimeout(timer);
    noteCost(job.organizationId, performance.now() - began);
    job.done();
    next();
  };

  const start = (): Worker => {
    const made = new Worker(workerFile, {
      workerData: { patterns: true } satisfies PatternWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      execArgv: [],
    });
    made.unref();
    made.on('message', finish);
    made.on('error', () => undefined);
    made.on('exit', () => {
      if (worker !== made) return;
      worker = null;
      // Answers given before it was terminated count; the rest stay undecided.
      finish();
    });
    return made;
  };

  const next = () => {
    if (current !== null || isClosed) return;
    const job = queue.take();
    clearTimeout(idleTimer);
    if (job === undefined) {
      idleTimer = setTimeout(() => void stopWorker(), IDLE_MS);
      idleTimer.unref();
      return;
    }
    worker ??= start();
    const { texts, tests, answers } = job;
    const running = worker;
    const timer = setTimeout(() => void running.terminate(), timeoutMs);
    current = { job, began: performance.now(), timer };
    running.postMessage({ texts, tests, answers } satisfies PatternJob);
  };

  const stopWorker = async () => {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  };

  const matchInWorker = async (
    organizationId: string,
    tests: readonly PatternTest[],
  ): Promise<PatternAnswer[]> => {
    const texts = [...new Set(tests.map(({ text }) => text))];
    const places = new Map(texts.map((text, index) => [text, index]));
    const answers = new SharedArrayBuffer(tests.length);
    await new Promise<void>((done) => {
      queue.push({
        organizationId,
        texts,
        tests: tests.map(({ pattern, text }) => [pattern, places.get(text)!]),
        answers,
        done,
      });
      next();
    });
    const cells = new Int8Array(answers);
    return tests.map((_, index) => decodeAnswer(cells[index]));
  };

  return {
    async match(organizationId, tests) {
      if (isCheap(tests)) return patternsInPlace();
      return answersOf(tests, await matchInWorker(organizationId, tests));
    },
    isCostly: (organizationId) => (costs.get(organizationId)?.costlyUntil ?? 0) > performance.now(),
    async rest(organizationId) {
      const restMs = (costs.get(organizationId)?.freeAt ?? 0) - performance.now();
      if (restMs > COSTLY_MS) await delay(Math.min(restMs, MAX_REST_MS));
    },
    async close() {
      isClosed = true;
      clearTimeout(idleTimer);
      for (const job of queue.takeAll()) job.done();
      await stopWorker();
      finish();
    },
  };
}

/** Matches where it is called; for tools and tests. */
export const matchInPlace: PatternMatcher = {
  async match(_, tests) {
    const answers: PatternAnswer[] = [];
    runPatternTests(tests, (index, answer) => (answers[index] = answer));
    return answersOf(tests, answers);
  },
  isCostly: () => false,
  rest: async () => undefined,
  close: async () => undefined,
};
