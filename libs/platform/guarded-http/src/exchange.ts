import type { Client, Dispatcher } from 'undici';
import { classifyError, sentenceOf, type AttemptOutcome } from './attempt-outcome';
import type { Occupant } from './origin-pools';

/** The status is the answer; a body that does not end soon is not worth holding the connection for. */
const BODY_WITHIN_MS = 1_000;

export interface ExchangeOptions {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Milliseconds from the construction to the status. */
  timeoutMs: number;
  /** How much of the body is read. */
  maxResponseBytes: number;
  signal?: AbortSignal;
}

/** One POST and what came of it. Settles once, at the latest a second after the deadline. */
export class Exchange implements Dispatcher.DispatchHandler, Occupant {
  private readonly startedAt = performance.now();
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private response: { status: number; headers: Record<string, string> } | null = null;
  private release: ((isReusable: boolean) => void) | null = null;
  private timer: NodeJS.Timeout;
  isSettled = false;

  constructor(
    private readonly options: ExchangeOptions,
    private readonly settle: (outcome: AttemptOutcome) => void,
  ) {
    this.timer = setTimeout(() => this.giveUp('timeout'), options.timeoutMs);
    options.signal?.addEventListener('abort', this);
  }

  occupy(connection: Client, release: (isReusable: boolean) => void): void {
    this.release = release;
    const { path, headers, body } = this.options;
    connection.dispatch({ method: 'POST', path, headers, body }, this);
  }

  /** The signal of the caller. */
  handleEvent(): void {
    this.giveUp('aborted');
  }

  giveUp(code: 'timeout' | 'aborted'): void {
    if (this.response !== null) this.reply(true);
    else this.fail(code, sentenceOf(code));
  }

  onRequestStart(): void {
    // Nothing to note: giving up destroys the connection, before or after the request is sent.
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.isSettled || status < 200) return;
    this.response = { status, headers: firstValues(headers) };
    // Most replies end in the octets at hand, and need no timer.
    queueMicrotask(() => this.hurry());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    const room = this.options.maxResponseBytes - this.size;
    // Copied, because a slice would hold the whole chunk in memory.
    this.chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.size += Math.min(chunk.length, room);
    if (chunk.length > room) this.reply(true);
  }

  onResponseEnd(): void {
    this.reply(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.response !== null) {
      this.reply(true);
      return;
    }
    const { code, detail } = classifyError(error);
    this.fail(code, detail);
  }

  private hurry(): void {
    if (this.isSettled) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.reply(true), BODY_WITHIN_MS);
  }

  private reply(truncated: boolean): void {
    const { status, headers } = this.response ?? { status: 0, headers: {} };
    const bodyStart = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    const durationMs = this.elapsed();
    this.finish(
      { kind: 'response', status, headers, bodyStart, truncated, durationMs },
      !truncated,
    );
  }

  private fail(code: Extract<AttemptOutcome, { kind: 'error' }>['code'], detail: string): void {
    this.finish({ kind: 'error', code, detail, durationMs: this.elapsed() }, false);
  }

  private finish(outcome: AttemptOutcome, isReusable: boolean): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this);
    this.release?.(isReusable);
    this.settle(outcome);
  }

  private elapsed(): number {
    return Math.round(performance.now() - this.startedAt);
  }
}

function firstValues(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) values[name] = first;
  }
  return values;
}
