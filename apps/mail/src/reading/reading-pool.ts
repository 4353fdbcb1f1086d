import { UnavailableError } from '@dak/kernel';

import { failedReading } from './failed-reading';
import type { MessageReading } from './message-reading';
import { ReadingThread, type ReadingJob } from './reading-thread';

export interface ReadingPoolOptions {
  /** The bundled `reading-worker`. */
  workerFile: string;
  /** Worker threads; default 1. */
  size?: number;
  /** Milliseconds that one message may take; default 10 000. */
  timeoutMs?: number;
  /** JavaScript heap of a worker in MiB; default 256. */
  maxHeapMb?: number;
}

/** Messages and bytes per hop; a large message travels alone. */
const MAX_BATCH_MESSAGES = 32;
const MAX_BATCH_BYTES = 1024 * 1024;

/** A worker that dies this often in a row without reading anything cannot be started at all. */
const MAX_START_FAILURES = 3;

/**
 * Reads messages in worker threads, so that no message can hold up the process: one that takes too long or too much
 * memory costs its worker, which is replaced, and comes back as `failedReading`. Messages that wait while the workers
 * are busy travel together. Everything else of a lost batch is read again.
 */
export class ReadingPool {
  private readonly timeoutMs: number;
  private readonly maxHeapMb: number;
  private readonly threads: ReadingThread[] = [];
  private readonly queue: ReadingJob[] = [];
  private readonly pending = new Set<Promise<unknown>>();
  private startFailures = 0;
  private closed = false;
  private dispatching = false;

  constructor(private readonly options: ReadingPoolOptions) {
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.maxHeapMb = options.maxHeapMb ?? 256;
    for (let count = 0; count < (options.size ?? 1); count += 1) this.threads.push(this.start());
  }

  /**
   * The reading of a message. Rejects only when the pool is closed or no worker can be started; `raw` is copied and
   * must not change until then.
   */
  async read(raw: Uint8Array): Promise<MessageReading> {
    if (this.closed)
      throw new UnavailableError('The reading pool is closed; read the message after a restart.');
    const reading = new Promise<MessageReading>((resolve, reject) => {
      this.queue.push({ raw, resolve, reject });
    });
    this.pending.add(reading);
    this.dispatchSoon();
    try {
      return await reading;
    } finally {
      this.pending.delete(reading);
    }
  }

  /** Waits for the messages already given, then ends the workers. Safe to call twice. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.pending);
    await Promise.all(this.threads.splice(0).map((thread) => thread.end()));
  }

  private start(): ReadingThread {
    const thread: ReadingThread = new ReadingThread({
      workerFile: this.options.workerFile,
      timeoutMs: this.timeoutMs,
      maxHeapMb: this.maxHeapMb,
      onIdle: () => {
        this.startFailures = 0;
        this.dispatch();
      },
      onLost: (jobs, culprit, error) => this.replace(thread, jobs, culprit, error),
    });
    return thread;
  }

  /** Calls of one turn of the event loop travel together. */
  private dispatchSoon(): void {
    if (this.dispatching) return;
    this.dispatching = true;
    queueMicrotask(() => {
      this.dispatching = false;
      this.dispatch();
    });
  }

  private dispatch(): void {
    for (const thread of this.threads) {
      if (this.queue.length === 0) return;
      if (thread.isIdle) thread.run(this.takeBatch());
    }
  }

  private takeBatch(): ReadingJob[] {
    let bytes = 0;
    let count = 0;
    // With several workers the queue is shared out, so that none takes all of it while others wait.
    const share = Math.ceil(this.queue.length / this.threads.length);
    for (const job of this.queue) {
      bytes += job.raw.byteLength;
      if (count > 0 && (bytes > MAX_BATCH_BYTES || count >= Math.min(share, MAX_BATCH_MESSAGES)))
        break;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private replace(
    thread: ReadingThread,
    jobs: readonly ReadingJob[],
    culprit: ReadingJob | null,
    error: Error,
  ): void {
    const innocent = jobs.filter((job) => job !== culprit);
    const at = this.threads.indexOf(thread);
    if (culprit) {
      this.startFailures = 0;
      culprit.resolve(failedReading(culprit.raw));
    } else {
      this.startFailures += 1;
    }
    this.queue.unshift(...innocent);
    if (this.startFailures >= MAX_START_FAILURES) {
      this.startFailures = 0;
      const failure = new UnavailableError('The reading worker cannot be started.', 5, error);
      for (const job of this.queue.splice(0)) job.reject(failure);
    }
    if (at < 0 || (this.closed && this.pending.size === 0)) return;
    this.threads[at] = this.start();
    this.dispatch();
  }
}
