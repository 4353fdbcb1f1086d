import { Worker } from 'node:worker_threads';

import type { MessageReading } from './message-reading';
import {
  IDLE,
  type ReadingBatch,
  type ReadingResults,
  type ReadingWorkerData,
} from './reading-protocol';

export interface ReadingJob {
  raw: Uint8Array;
  /** Whose turn it uses up. */
  flow: string;
  /** Read the cheap way: the full one took too long. */
  isPlain: boolean;
  resolve: (reading: MessageReading) => void;
  reject: (error: Error) => void;
}

export interface ReadingThreadOptions {
  workerFile: string;
  timeoutMs: number;
  maxHeapMb: number;
  /** A message was read. */
  onRead: (job: ReadingJob, milliseconds: number) => void;
  /** The batch is done. */
  onIdle: () => void;
  /** The worker is gone, with the jobs it had and the one it was at, when that is known. Called once. */
  onLost: (jobs: readonly ReadingJob[], culprit: ReadingJob | null, error: Error) => void;
}

/** One worker thread with the batch it reads. */
export class ReadingThread {
  private readonly progress = new Int32Array(new SharedArrayBuffer(4)).fill(IDLE);
  private readonly worker: Worker;
  private jobs: readonly ReadingJob[] = [];
  private answered = 0;
  private watchdog: NodeJS.Timeout | undefined;
  private watched = { index: IDLE, since: 0 };
  private busySince = 0;
  private failure: Error | undefined;
  private isGone = false;

  constructor(private readonly options: ReadingThreadOptions) {
    this.worker = new Worker(options.workerFile, {
      workerData: { progress: this.progress.buffer } satisfies ReadingWorkerData,
      // The young generation must fit into the allowance that V8 gives a worker on its way out: with the default of
      // 48 MB, promoting it ended the whole process instead of the worker (measured on Node 24.21).
      resourceLimits: {
        maxOldGenerationSizeMb: options.maxHeapMb,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
      // A bundle needs none of the flags of the process, and loaders among them would not fit.
      execArgv: [],
    });
    this.worker.on('message', (results: ReadingResults) => this.take(results));
    this.worker.on('error', (error) => {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    });
    this.worker.on('exit', (code) => {
      this.lose(this.failure ?? new Error(`The reading worker ended with exit code ${code}.`));
    });
  }

  get isIdle(): boolean {
    return this.jobs.length === 0 && !this.isGone;
  }

  /** The flow of the message that is being read; null when idle. */
  get flow(): string | null {
    if (this.jobs.length === 0) return null;
    const index = Atomics.load(this.progress, 0);
    return (this.jobs[index] ?? this.jobs[this.answered])?.flow ?? null;
  }

  /** Milliseconds since it began its batch; 0 when idle. */
  get busyMs(): number {
    return this.jobs.length === 0 ? 0 : performance.now() - this.busySince;
  }

  /** Sends a batch; only when idle. */
  run(jobs: readonly ReadingJob[]): void {
    this.jobs = jobs;
    this.answered = 0;
    this.busySince = performance.now();
    const lengths = jobs.map((job) => job.raw.byteLength);
    const packed = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
    let offset = 0;
    for (const { raw } of jobs) {
      packed.set(raw, offset);
      offset += raw.byteLength;
    }
    this.watched = { index: IDLE, since: performance.now() };
    const interval = Math.max(10, Math.min(1000, this.options.timeoutMs / 4));
    this.watchdog = setInterval(() => this.watch(), interval);
    const plain = jobs.map(({ isPlain }) => isPlain);
    const batch: ReadingBatch = { bytes: packed.buffer, lengths, plain };
    this.worker.postMessage(batch, [packed.buffer]);
  }

  async end(): Promise<void> {
    this.isGone = true;
    clearInterval(this.watchdog);
    await this.worker.terminate();
  }

  private take({ readings, milliseconds }: ReadingResults): void {
    const jobs = this.jobs.slice(this.answered, this.answered + readings.length);
    this.answered += readings.length;
    const isDone = this.answered >= this.jobs.length;
    if (isDone) {
      clearInterval(this.watchdog);
      this.jobs = [];
    }
    for (const [index, job] of jobs.entries()) {
      this.options.onRead(job, milliseconds[index]!);
      job.resolve(readings[index]!);
    }
    if (isDone) this.options.onIdle();
  }

  private watch(): void {
    const index = Atomics.load(this.progress, 0);
    if (index !== this.watched.index) {
      this.watched = { index, since: performance.now() };
    } else if (performance.now() - this.watched.since > this.options.timeoutMs) {
      this.failure = new Error(`Reading a message took more than ${this.options.timeoutMs} ms.`);
      clearInterval(this.watchdog);
      void this.worker.terminate();
    }
  }

  private lose(error: Error): void {
    if (this.isGone) return;
    this.isGone = true;
    clearInterval(this.watchdog);
    const index = Atomics.load(this.progress, 0);
    const { jobs } = this;
    this.jobs = [];
    const culprit = index === IDLE ? null : (jobs[index] ?? null);
    this.options.onLost(jobs.slice(this.answered), culprit, error);
  }
}
