import { DomainError, outageAsUnavailable, type ErrorKind, type ReplyCode } from '@dak/kernel';

/** The one place where an error kind becomes an HTTP status. */
export const ERROR_STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media: 415,
  refused: 422,
  rate_limited: 429,
  unavailable: 503,
  deadline_exceeded: 503,
  internal: 500,
};

/** 405 exists at the HTTP boundary only. */
export class MethodNotAllowedError extends Error {
  override readonly name = 'MethodNotAllowedError';
  constructor(
    readonly method: string,
    readonly allow: string,
  ) {
    super(`${method} is not allowed here: use one of ${allow}.`);
  }
}

/** 408 likewise: the body did not come. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  constructor() {
    super('The request did not arrive in time: send it again, and without long pauses.');
  }
}

export interface ErrorReply {
  status: number;
  code: ReplyCode;
  /** The sentence of the body's one field. */
  sentence: string;
  headers: [name: string, value: string][];
}

const RETRY_KINDS: ReadonlySet<ErrorKind> = new Set([
  'rate_limited',
  'unavailable',
  'deadline_exceeded',
]);

/** Turns an outage into `unavailable`; returns other errors unchanged. */
export function asDependencyFailure(error: unknown): unknown {
  return outageAsUnavailable(
    error,
    'Something this request depends on is not reachable. Try again in a moment.',
  );
}

/** The reply to anything thrown; only a DomainError shows its own message. */
export function toErrorReply(error: unknown): ErrorReply {
  if (error instanceof MethodNotAllowedError) {
    return {
      status: 405,
      code: 'method_not_allowed',
      sentence: error.message,
      headers: [['Allow', error.allow]],
    };
  }
  if (error instanceof RequestTimeoutError) {
    return {
      status: 408,
      code: 'request_timeout',
      sentence: error.message,
      headers: [['Connection', 'close']],
    };
  }
  if (!(error instanceof DomainError)) {
    return {
      status: 500,
      code: 'internal',
      sentence:
        'Something went wrong on our side. Try again; if it stays, report the X-Request-Id of this reply.',
      headers: [],
    };
  }
  const headers: [string, string][] = [];
  if (error.kind === 'unauthenticated') {
    headers.push(['WWW-Authenticate', 'Bearer realm="dak"']);
  }
  const retryAfter = error.retryAfterSeconds ?? (RETRY_KINDS.has(error.kind) ? 1 : undefined);
  if (retryAfter !== undefined) {
    headers.push(['Retry-After', String(Math.max(1, Math.ceil(retryAfter)))]);
  }
  return { status: ERROR_STATUS[error.kind], code: error.code, sentence: error.message, headers };
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** RFC 9457, for clients that ask for `application/problem+json`. */
export function toProblem(reply: ErrorReply, requestId: string): Record<string, unknown> {
  return {
    type: 'about:blank',
    title: TITLES[reply.status] ?? 'Error',
    status: reply.status,
    detail: reply.sentence,
    instance: `urn:request:${requestId}`,
    code: reply.code,
  };
}
