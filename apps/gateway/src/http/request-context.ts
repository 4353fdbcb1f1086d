import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, InvalidError, type Principal } from '@dak/kernel';
import type { CallOptions, IdempotencyKey } from '@dak/platform/grpc';
import type { ClientAddressOf } from './client-address';
import type { AuditNote, RouteContext } from './route';

export type AuditWriter = (
  principal: Principal | null,
  requestId: string,
  note: AuditNote,
) => Promise<void>;

/** One request on its way to its handler. Whatever few handlers use is made when it is asked for. */
export class RequestContext implements RouteContext<Principal | null, unknown, unknown, unknown> {
  principal: Principal | null = null;
  params: unknown = undefined;
  query: unknown = undefined;
  body: unknown = undefined;
  ifMatch: number | null = null;
  idempotency: IdempotencyKey | null = null;
  deadline = 0;
  traceparent: string | undefined = undefined;
  bodyStream: AsyncIterable<Buffer> = NO_BODY;
  private abort: AbortController | null = null;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly requestId: string,
    private readonly writeAudit: AuditWriter,
    private readonly clientAddressOf: ClientAddressOf,
  ) {}

  get url(): string {
    return this.request.url ?? '/';
  }

  get headers(): IncomingMessage['headers'] {
    return this.request.headers;
  }

  get clientAddress(): string {
    return this.clientAddressOf(this.request);
  }

  get signal(): AbortSignal {
    if (this.abort === null) {
      const abort = new AbortController();
      this.abort = abort;
      if (this.response.destroyed) abort.abort();
      this.response.once('close', () => {
        if (!this.response.writableFinished) abort.abort();
      });
    }
    return this.abort.signal;
  }

  get call(): CallOptions {
    const options: CallOptions = {
      principal: this.principal,
      requestId: this.requestId,
      deadline: this.deadline,
    };
    // Only for handlers that asked for the signal: watching every client costs more than it saves,
    // and a write should not stop halfway because its client went away.
    if (this.abort !== null) options.signal = this.abort.signal;
    if (this.request.method === 'GET') options.isRead = true;
    if (this.idempotency !== null) options.idempotency = this.idempotency;
    if (this.traceparent !== undefined) options.traceparent = this.traceparent;
    return options;
  }

  audit(note: AuditNote): Promise<void> {
    return this.writeAudit(this.principal, this.requestId, note);
  }
}

const NO_BODY: AsyncIterable<Buffer> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

const VERSION_TAG = /^"(\d{1,15})"$/;

/**
 * The version of `If-Match: "<version>"` (RFC 9110 §13.1.1); null when absent or `*`.
 * @throws DomainError precondition_failed for an entity tag that this API never gave out
 */
export function parseIfMatch(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const version = VERSION_TAG.exec(header.trim())?.[1];
  if (version !== undefined) return Number(version);
  throw new DomainError(
    'precondition_failed',
    'version_mismatch',
    'If-Match must be the ETag of the version that you read, such as "3".',
  );
}

const KEY_TEXT = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/** @throws InvalidError unless it has 1–256 printable ASCII characters */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = typeof header === 'string' ? header.trim() : '';
  if (KEY_TEXT.test(key)) return key;
  throw new InvalidError(
    'Idempotency-Key must have 1 to 256 printable ASCII characters.',
    'invalid_idempotency_key',
  );
}
