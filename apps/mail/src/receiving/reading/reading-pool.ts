import { UnavailableError } from '@dak/kernel';

import { clientOf } from '../../spool/flow-client';
import { failedReading } from './failed-reading';
import { FairQueue } from './fair-queue';
import type { MessageReading } from './message-reading';
import { ReadingThread, type ReadingJob } from './reading-thread';

export interface ReadingPoolOptions {
  /** The bundled `reading-worker`. */
  workerFile: string;
  /** Worker threads; default 1. */
  size?: number;
  /** Milliseconds that one message may take; default 5 000. It is then read the cheap way, in the same time again. */
  timeoutMs?: number;
  /** JavaScript heap of a worker in MiB; default 256. */
  maxHeapMb?: number;
  /** Milliseconds of one batch after which others get a worker more; default 200. */
  reliefAfterMs?: number;
  /** A message was read, or could not be: what that took, and whether it was read in full. */
  onRead?: (flow: string, milliseconds: number, inFull: boolean) => void;
}

export interface ReadingRequest {
  /** Messages of one flow are read in order, clients in turns, and the flows of each. @default '' */
  flow?: string;
  /** Takes back a message whose reading has not begun: the promise rejects with {@link ReadingNotBegun}. */
  signal?: AbortSignal;
}

/** A message was taken back before its turn had come. */
export class ReadingNotBegun extends Error {
  override readonly name = 'ReadingNotBegun';
}

/** Messages and bytes per hop; a large message travels alone. */
const MAX_BATCH_MESSAGES = 32;
const MAX_BATCH_BYTES = 256 * 1024;

/** A worker that dies this often in a row without reading anything cannot be started at all. */
const MAX_START_FAILURES = 3;

/** Milliseconds without work after which a worker that was added goes. */
const RELIEF_REST_MS = 10_000;

/**
 * Reads messages in worker threads, so that no message can hold up the process: one that takes too long or too much
 * memory costs its worker, which is replaced, and is read again the cheap way; when that fails as well it comes back
 * as `failedReading`. Messages that wait while the workers are busy travel together, in turns of their clients. While
 * all workers are at something long, one more reads for the other flows; at rest there is none.
 */
export class ReadingPool {
  private readonly timeoutMs: number;
  private readonly maxHeapMb: number;
  private readonly reliefAfterMs: number;
  private readonly threads: ReadingThread[] = [];
  private readonly queue = new FairQueue<ReadingJob>(({ flow }) => flow, clientOf);
  private readonly pending = new Set<Promise<unknown>>();
  private relief: ReadingThread | null = null;
  private reliefTimer: NodeJS.Timeout | undefined;
  private restTimer: NodeJS.Timeout | undefined;
  private startFailures = 0;
  private closed = false;
  private dispatching = false;

  constructor(private readonly options: ReadingPoolOptions) {
    this.timeoutMs = options.timeoutMs ?? 5_000;
    this.maxHeapMb = options.maxHeapMb ?? 256;
    this.reliefAfterMs = options.reliefAfterMs ?? 200;
    for (let count = 0; count < (options.size ?? 1); count += 1) this.threads.push(this.start());
  }

  /**
   * The reading of a message. Rejects only when it was taken back, the pool is closed or no worker can be started;
   * `raw` is copied and must not change until then.
   */
  async read(raw: Uint8Array, { flow = '', signal }: ReadingRequest = {}): Promise<MessageReading> {
    if (this.closed)
      throw new UnavailableError('The reading pool is closed; read the message after a restart.');
    if (signal?.aborted === true) throw new ReadingNotBegun();
    let takeBack: () => void = () => undefined;
    const reading = new Promise<MessageReading>((resolve, reject) => {
      const job: ReadingJob = { raw, flow, isPlain: false, resolve, reject };
      takeBack = () => {
        if (this.queue.remove(job)) reject(new ReadingNotBegun());
      };
      this.queue.push(job);
    });
    signal?.addEventListener('abort', takeBack);
    this.pending.add(reading);
    this.dispatchSoon();
    try {
      return await reading;
    } finally {
      this.pending.delete(reading);
      signal?.removeEventListener('abort', takeBack);
    }
  }

  /** Waits for the messages already given, then ends the workers. Safe to call twice. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.pending);
    clearTimeout(this.reliefTimer);
    clearTimeout(this.restTimer);
    await Promise.all([this.endRelief(), ...this.threads.splice(0).map((thread) => thread.end())]);
  }

  private start(): ReadingThread {
    const thread: ReadingThread = new ReadingThread({
      workerFile: this.options.workerFile,
      timeoutMs: this.timeoutMs,
      maxHeapMb: this.maxHeapMb,
      onRead: (job, milliseconds) => this.options.onRead?.(job.flow, milliseconds, !job.isPlain),
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
      if (thread.isIdle) this.runBatch(thread, () => true);
    }
    if (this.relief?.isIdle === true) this.runBatch(this.relief, this.mayRelieve());
    this.askForRelief();
  }

  private runBatch(thread: ReadingThread, mayTake: (flow: string) => boolean): void {
    const jobs = this.takeBatch(mayTake);
    if (jobs.length > 0) thread.run(jobs);
    else if (thread === this.relief) this.letReliefRest();
  }

  private takeBatch(mayTake: (flow: string) => boolean): ReadingJob[] {
    const jobs: ReadingJob[] = [];
    let bytes = 0;
    // With several workers the queue is shared out, so that none takes all of it while others wait.
    const most = Math.min(Math.ceil(this.queue.size / this.threads.length), MAX_BATCH_MESSAGES);
    while (jobs.length < most) {
      const job = this.queue.take(mayTake);
      if (job === undefined) break;
      bytes += job.raw.byteLength;
      if (jobs.length > 0 && bytes > MAX_BATCH_BYTES) {
        this.queue.putBack(job);
        break;
      }
      jobs.push(job);
    }
    return jobs;
  }

  /** Flows besides those that the workers are at; those of other clients, where there are any. */
  private mayRelieve(): (flow: string) => boolean {
    const busy = this.threads.flatMap((thread) => thread.flow ?? []);
    const clients = new Set(busy.map(clientOf));
    const isOther = (flow: string) => !clients.has(clientOf(flow));
    for (const flow of this.queue.keys()) if (isOther(flow)) return isOther;
    return (flow) => !busy.includes(flow);
  }

  /** When everything waits for one slow item, other flows get a separate worker for a while. */
  private askForRelief(): void {
    if (this.reliefTimer !== undefined || this.relief !== null || this.queue.size === 0) return;
    this.reliefTimer = setTimeout(() => {
      this.reliefTimer = undefined;
      if (this.closed || this.relief !== null || this.queue.size === 0) return;
      const isHeldUp = this.threads.every(({ busyMs }) => busyMs >= this.reliefAfterMs);
      const mayRelieve = this.mayRelieve();
      if (isHeldUp && [...this.queue.keys()].some(mayRelieve)) this.relief = this.start();
      this.dispatch();
    }, this.reliefAfterMs);
    this.reliefTimer.unref();
  }

  private letReliefRest(): void {
    if (this.restTimer !== undefined) return;
    this.restTimer = setTimeout(() => {
      this.restTimer = undefined;
      if (this.relief?.isIdle === true) void this.endRelief();
    }, RELIEF_REST_MS);
    this.restTimer.unref();
  }

  private async endRelief(): Promise<void> {
    const { relief } = this;
    this.relief = null;
    await relief?.end();
  }

  private replace(
    thread: ReadingThread,
    jobs: readonly ReadingJob[],
    culprit: ReadingJob | null,
    error: Error,
  ): void {
    if (culprit) {
      this.startFailures = 0;
      this.options.onRead?.(culprit.flow, this.timeoutMs, false);
      if (culprit.isPlain) culprit.resolve(failedReading(culprit.raw));
      else this.queue.push({ ...culprit, isPlain: true });
    } else {
      this.startFailures += 1;
    }
    for (const job of jobs.toReversed()) if (job !== culprit) this.queue.putBack(job);
    if (this.startFailures >= MAX_START_FAILURES) {
      this.startFailures = 0;
      const failure = new UnavailableError('The reading worker cannot be started.', 5, error);
      for (const job of this.queue.takeAll()) job.reject(failure);
    }
    if (thread === this.relief) {
      this.relief = null;
    } else {
      const at = this.threads.indexOf(thread);
      if (at < 0 || (this.closed && this.pending.size === 0)) return;
      this.threads[at] = this.start();
    }
    this.dispatch();
  }
}
