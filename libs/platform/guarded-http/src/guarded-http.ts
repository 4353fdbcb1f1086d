import { Pool, type Dispatcher } from 'undici';
import type { Allowance, Target } from './allowance';
import {
  classifyError,
  sentenceOf,
  type AttemptError,
  type AttemptOutcome,
} from './attempt-outcome';
import { createResolver, guardedConnector, type Resolve } from './guarded-connector';
import { judgeUrl } from './judge-url';
import { OriginPools } from './origin-pools';

export interface GuardedHttpOptions {
  /** Where requests may go besides public addresses. */
  allow: Allowance;
  /** Milliseconds for DNS, TCP and TLS together. @default 5000 */
  connectTimeoutMs?: number;
  /** Origins that connections are kept to at most. @default 512 */
  maxOrigins?: number;
  /** Milliseconds without a request after which the connections to an origin are closed. @default 60000 */
  idleMs?: number;
  /** @default the name servers of the system */
  resolve?: Resolve;
  /** PEM of the certificate authorities to trust instead of the usual ones. */
  ca?: string;
}

export interface PostRequest {
  /** Besides user-agent, accept, accept-encoding and content-length, which are set here. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Milliseconds from the call to the status, whatever happens in between. */
  timeoutMs: number;
  /** How much of the body is read; then the connection is closed. @default 16384 */
  maxResponseBytes?: number;
  signal?: AbortSignal;
}

export interface GuardedHttp {
  /** One POST over HTTP/1.1: no redirect is followed, no proxy used, nothing repeated. Never rejects. */
  post(url: string, request: PostRequest): Promise<AttemptOutcome>;
  /** Gives up what is under way (`aborted`) and closes all connections. */
  close(): Promise<void>;
}

export const MAX_RESPONSE_BYTES = 16_384;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_ORIGINS = 512;
const IDLE_MS = 60_000;
/** The status is the answer; a body that does not end soon is not worth holding the connection for. */
const BODY_WITHIN_MS = 1_000;
const MAX_CONNECTIONS_PER_ORIGIN = 128;
const MAX_HEADER_BYTES = 16_384;

const FIXED_HEADERS = {
  'user-agent': 'Dak-Webhooks/1.0',
  accept: '*/*',
  // Nothing is ever decompressed, so a compressed reply is of no use and cannot be a bomb.
  'accept-encoding': 'identity',
};

/** A client for URLs that strangers name: it reaches public addresses and those of the allowance, nothing else. */
export function createGuardedHttp(options: GuardedHttpOptions): GuardedHttp {
  const resolve = options.resolve ?? createResolver(options.allow);
  const pools = new OriginPools({
    most: options.maxOrigins ?? MAX_ORIGINS,
    idleMs: options.idleMs ?? IDLE_MS,
    open: (origin, target: Target) =>
      new Pool(origin, {
        connections: MAX_CONNECTIONS_PER_ORIGIN,
        pipelining: 1,
        maxHeaderSize: MAX_HEADER_BYTES,
        // The deadline of the attempt bounds everything; undici's own do not bound a reply that drips.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: guardedConnector({
          target,
          allowance: options.allow,
          resolve,
          connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        }),
      }),
  });
  const underWay = new Set<Exchange>();
  let isClosed = false;

  return {
    async post(text, request) {
      const judgment = judgeUrl(text, options.allow);
      if (!judgment.allowed) {
        const { code, reason } = judgment;
        return { kind: 'error', code, detail: `url ${reason}.`, durationMs: 0 };
      }
      const { url, target } = judgment;
      if (isClosed || request.signal?.aborted === true) {
        return { kind: 'error', code: 'aborted', detail: sentenceOf('aborted'), durationMs: 0 };
      }
      return new Promise((settle) => {
        const exchange = new Exchange(request, (outcome) => {
          underWay.delete(exchange);
          settle(outcome);
        });
        underWay.add(exchange);
        pools.take(url.origin, target).dispatch(
          {
            method: 'POST',
            path: url.pathname + url.search,
            headers: { ...FIXED_HEADERS, ...request.headers },
            body: request.body,
          },
          exchange,
        );
      });
    },
    async close() {
      isClosed = true;
      for (const exchange of underWay) exchange.giveUp('aborted');
      await pools.close();
    },
  };
}

/** One request and what came of it. Settles once, at the latest with the deadline. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly startedAt = performance.now();
  private readonly limit: number;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private response: { status: number; headers: Record<string, string> } | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private isSettled = false;
  private timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.giveUp('aborted');

  constructor(
    private readonly request: PostRequest,
    private readonly settle: (outcome: AttemptOutcome) => void,
  ) {
    this.limit = request.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    this.timer = setTimeout(() => this.giveUp('timeout'), request.timeoutMs);
    request.signal?.addEventListener('abort', this.onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline may have passed while the connection was being made: then nothing must be sent.
    if (this.isSettled) controller.abort(new Error('given up before it was sent'));
    else this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.isSettled || status < 200) return;
    this.response = { status, headers: firstValues(headers) };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.cut(), BODY_WITHIN_MS);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    const room = this.limit - this.size;
    // Copied, because a slice would hold the whole chunk in memory.
    this.chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.size += Math.min(chunk.length, room);
    if (chunk.length > room) this.cut();
  }

  onResponseEnd(): void {
    this.finish(this.replied(false));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.response !== null) this.finish(this.replied(true));
    else this.finish({ kind: 'error', ...classifyError(error), durationMs: this.elapsed() });
  }

  giveUp(code: AttemptError & ('timeout' | 'aborted')): void {
    if (this.response !== null) {
      this.cut();
      return;
    }
    this.finish({ kind: 'error', code, detail: sentenceOf(code), durationMs: this.elapsed() });
    this.controller?.abort(new Error(code));
  }

  private cut(): void {
    this.finish(this.replied(true));
    this.controller?.abort(new Error('enough of the body was read'));
  }

  private replied(truncated: boolean): AttemptOutcome {
    const { status, headers } = this.response ?? { status: 0, headers: {} };
    return {
      kind: 'response',
      status,
      headers,
      bodyStart: this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks),
      truncated,
      durationMs: this.elapsed(),
    };
  }

  private finish(outcome: AttemptOutcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this.onAbort);
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
