import type { AttemptError, AttemptOutcome } from '@dak/platform/guarded-http';
import { MAX_RETRY_AFTER_MS } from './retry-schedule';

/** What an attempt means for its delivery and its endpoint. */
export const VERDICT_KINDS = [
  'delivered', // 2xx
  'retry', // failed; tried again by the schedule
  'slow_down', // failed, and the endpoint is overloaded: 429, 502, 504
  'gone', // 410: the endpoint must be disabled
  'failed', // no attempt can ever succeed
  'withdrawn', // canceled by Dak: it does not count as an attempt
] as const;
export type VerdictKind = (typeof VERDICT_KINDS)[number];

export type AttemptErrorCode =
  AttemptError | 'redirect' | 'gone' | 'rate_limited' | 'client_error' | 'server_error';

export interface Verdict {
  readonly kind: VerdictKind;
  /** Null without a response. */
  readonly statusCode: number | null;
  /** Null when it was delivered. */
  readonly errorCode: AttemptErrorCode | null;
  /** One sentence for the user; null when it was delivered. */
  readonly detail: string | null;
  /** From Retry-After of 429 and 503, at most 24 hours. */
  readonly retryAfterMs: number | null;
  /** Evidence for `Breaker` that the endpoint is down; a 429 comes from one that is up. */
  readonly isFailure: boolean;
  /** No connection was made. */
  readonly isConnectFailure: boolean;
}

const CONNECT_FAILURES: ReadonlySet<AttemptError> = new Set<AttemptError>([
  'blocked_address',
  'dns',
  'refused',
  'unreachable',
  'connect_timeout',
  'tls',
]);

/** @param now milliseconds since the epoch, for a Retry-After that is a date */
export function classifyOutcome(outcome: AttemptOutcome, now: number): Verdict {
  return outcome.kind === 'error'
    ? verdictOfError(outcome.code, outcome.detail)
    : verdictOfStatus(outcome.status, outcome.headers['retry-after'], now);
}

function verdictOfError(code: AttemptError, detail: string): Verdict {
  const isWithdrawn = code === 'aborted';
  return {
    kind: isWithdrawn ? 'withdrawn' : code === 'invalid_url' ? 'failed' : 'retry',
    statusCode: null,
    errorCode: code,
    detail,
    retryAfterMs: null,
    isFailure: !isWithdrawn,
    isConnectFailure: CONNECT_FAILURES.has(code),
  };
}

function verdictOfStatus(status: number, retryAfter: string | undefined, now: number): Verdict {
  const base = { statusCode: status, retryAfterMs: null, isFailure: true, isConnectFailure: false };
  if (status >= 200 && status < 300) {
    return { ...base, kind: 'delivered', errorCode: null, detail: null, isFailure: false };
  }
  switch (status) {
    case 410:
      return {
        ...base,
        kind: 'gone',
        errorCode: 'gone',
        detail: 'The receiver answered 410 Gone: it wants no more events.',
        isFailure: false,
      };
    case 429:
      return {
        ...base,
        kind: 'slow_down',
        errorCode: 'rate_limited',
        detail: 'The receiver answered 429: it wants fewer events at a time.',
        retryAfterMs: retryAfterMs(retryAfter, now),
        isFailure: false,
      };
    case 502:
    case 504:
      return { ...base, kind: 'slow_down', errorCode: 'server_error', detail: answered(status) };
    case 503:
      return {
        ...base,
        kind: 'retry',
        errorCode: 'server_error',
        detail: answered(status),
        retryAfterMs: retryAfterMs(retryAfter, now),
      };
    default:
      return { ...base, kind: 'retry', ...reasonOf(status) };
  }
}

function reasonOf(status: number): { errorCode: AttemptErrorCode; detail: string } {
  if (status >= 300 && status < 400) {
    const detail = `The receiver answered ${status}: redirects are not followed, so change the url.`;
    return { errorCode: 'redirect', detail };
  }
  return { errorCode: status < 500 ? 'client_error' : 'server_error', detail: answered(status) };
}

function answered(status: number): string {
  return `The receiver answered ${status} instead of 2xx.`;
}

/** RFC 9110 §10.2.3: seconds or a date; null when absent, malformed or past. */
export function retryAfterMs(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : // Date.parse takes even "-1" for a date.
      /^[A-Z][a-z]+, /.test(text)
      ? Date.parse(text) - now
      : Number.NaN;
  return wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : null;
}
