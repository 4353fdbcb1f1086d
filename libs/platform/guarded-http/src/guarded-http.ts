import { Client } from 'undici';
import type { Allowance } from './allowance';
import { sentenceOf, type AttemptOutcome } from './attempt-outcome';
import { Exchange } from './exchange';
import { createResolver, guardedConnector, type Resolve } from './guarded-connector';
import { judgeUrl, type UrlJudgment } from './judge-url';
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
  /** Whose request it is: tenants share no connections, so that none can take those of another. */
  tenant?: string;
}

export interface GuardedHttp {
  /** One POST over HTTP/1.1: no redirect is followed, no proxy used, nothing repeated. Never rejects. */
  post(url: string, request: PostRequest): Promise<AttemptOutcome>;
  /** Aborts requests in progress (`aborted`) and closes all connections. */
  close(): Promise<void>;
}

export const MAX_RESPONSE_BYTES = 16_384;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_ORIGINS = 512;
const IDLE_MS = 60_000;
const MAX_JUDGMENTS = 1_000;
const CONNECTIONS_PER_ORIGIN = 128;
const MAX_HEADER_BYTES = 16_384;

const CLIENT_OPTIONS = {
  pipelining: 1,
  maxHeaderSize: MAX_HEADER_BYTES,
  // The deadline of the attempt bounds everything; undici's own do not bound a reply that drips.
  headersTimeout: 0,
  bodyTimeout: 0,
};

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
    connectionsPerOrigin: CONNECTIONS_PER_ORIGIN,
    opener: (origin, target) => {
      // One per origin, so that its connections share TLS sessions.
      const connect = guardedConnector({
        target,
        allowance: options.allow,
        resolve,
        connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      });
      return () => new Client(origin, { ...CLIENT_OPTIONS, connect });
    },
  });
  const judge = rememberingJudge(options.allow);
  const underWay = new Set<Exchange>();
  let isClosed = false;

  return {
    async post(text, request) {
      const judgment = judge(text);
      if (!judgment.allowed) {
        const { code, reason } = judgment;
        return { kind: 'error', code, detail: `url ${reason}.`, durationMs: 0 };
      }
      const { url, target } = judgment;
      if (isClosed || request.signal?.aborted === true) {
        return { kind: 'error', code: 'aborted', detail: sentenceOf('aborted'), durationMs: 0 };
      }
      return new Promise((settle) => {
        const exchange = new Exchange(
          {
            path: url.pathname + url.search,
            headers: { ...FIXED_HEADERS, ...request.headers },
            body: request.body,
            timeoutMs: request.timeoutMs,
            maxResponseBytes: request.maxResponseBytes ?? MAX_RESPONSE_BYTES,
            ...(request.signal === undefined ? {} : { signal: request.signal }),
          },
          (outcome) => {
            underWay.delete(exchange);
            settle(outcome);
          },
        );
        underWay.add(exchange);
        pools.run(url.origin, target, exchange, request.tenant);
      });
    },
    async close() {
      isClosed = true;
      for (const exchange of underWay) exchange.giveUp('aborted');
      await pools.close();
    },
  };
}

/** Checks that do not resolve the name; their result never changes. */
function rememberingJudge(allow: Allowance): (text: string) => UrlJudgment {
  const known = new Map<string, UrlJudgment>();
  return (text) => {
    let judgment = known.get(text);
    if (judgment === undefined) {
      judgment = judgeUrl(text, allow);
      if (known.size >= MAX_JUDGMENTS) known.clear();
      known.set(text, judgment);
    }
    return judgment;
  };
}
