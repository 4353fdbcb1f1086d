import type { ErrorCode } from './error-codes';
import type { ErrorKind } from './error-kinds';

export interface DomainErrorOptions {
  /** Seconds until a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A code belongs to its kind. */
export type DomainErrorArguments = {
  [Kind in ErrorKind]: [
    kind: Kind,
    code: ErrorCode<Kind>,
    message: string,
    options?: DomainErrorOptions,
  ];
}[ErrorKind];

/**
 * The only error that crosses a service boundary with its message intact; every other one becomes
 * `internal` with a neutral sentence. `message` is for people: it names the field and the fix.
 * `code` is for machines: one of `ERROR_CODES`, of this kind, sent as `X-Error-Code`.
 */
export class DomainError extends Error {
  override readonly name: string = 'DomainError';
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(...[kind, code, message, options = {}]: DomainErrorArguments) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export class InvalidError extends DomainError {
  override readonly name = 'InvalidError';
  constructor(message: string, code: ErrorCode<'invalid'> = 'invalid_request') {
    super('invalid', code, message);
  }
}

/** Also thrown for records of another tenant or outside the caller's visibility: never an oracle. */
export class NotFoundError extends DomainError {
  override readonly name = 'NotFoundError';
  constructor(what: string) {
    super('not_found', 'not_found', `No ${what} with this id is visible to you.`);
  }
}

export class ConflictError extends DomainError {
  override readonly name = 'ConflictError';
  constructor(message: string, code: ErrorCode<'conflict'> = 'conflict') {
    super('conflict', code, message);
  }
}

export class RefusedError extends DomainError {
  override readonly name = 'RefusedError';
  constructor(message: string, code: ErrorCode<'refused'> = 'refused') {
    super('refused', code, message);
  }
}

export class ForbiddenError extends DomainError {
  override readonly name = 'ForbiddenError';
  constructor(message: string, code: ErrorCode<'forbidden'> = 'forbidden') {
    super('forbidden', code, message);
  }
}

export class VersionMismatchError extends DomainError {
  override readonly name = 'VersionMismatchError';
  constructor(what: string, current: number) {
    super(
      'precondition_failed',
      'version_mismatch',
      `The ${what} has changed since you read it: its version is now ${current}. Read it again and repeat with the new ETag in If-Match.`,
    );
  }
}

export class UnavailableError extends DomainError {
  override readonly name = 'UnavailableError';
  constructor(message: string, retryAfterSeconds = 1, cause?: unknown) {
    super('unavailable', 'unavailable', message, { retryAfterSeconds, cause });
  }
}

/** The disk is full or not responding: the data cannot be stored at the moment. */
export class StorageUnavailableError extends DomainError {
  override readonly name = 'StorageUnavailableError';
  constructor(cause: unknown) {
    super(
      'unavailable',
      'storage_unavailable',
      'There is no room to store this at the moment. Try again later.',
      { retryAfterSeconds: 30, cause },
    );
  }
}

/** File system errors (no space, quota, input or output), and PostgreSQL's `disk_full` and `io_error`. */
const STORAGE_CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'],
  ...['53100', '58030'],
]);

/** Turns errors of a full or broken disk into {@link StorageUnavailableError}; returns others unchanged. */
export function asStorageFailure(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  return STORAGE_CODES.has(code) ? new StorageUnavailableError(error) : error;
}
