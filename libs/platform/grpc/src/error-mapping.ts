import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import {
  DomainError,
  ERROR_KINDS,
  isOutage,
  UnavailableError,
  type DomainErrorArguments,
  type ErrorKind,
} from '@dak/kernel';

const STATUS: Record<ErrorKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.ABORTED,
  precondition_failed: status.FAILED_PRECONDITION,
  too_large: status.OUT_OF_RANGE,
  unsupported_media: status.INVALID_ARGUMENT,
  refused: status.FAILED_PRECONDITION,
  rate_limited: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  deadline_exceeded: status.DEADLINE_EXCEEDED,
  internal: status.INTERNAL,
};

const KIND = 'dak-error-kind';
const CODE = 'dak-error-code';
const RETRY_AFTER = 'dak-retry-after';

/** Errors other than DomainError do not disclose their message; outages are reported as such. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (isOutage(error)) {
    return new UnavailableError(
      'Something that this request needs is away. Try again in a moment.',
      1,
      error,
    );
  }
  return new DomainError('internal', 'internal', 'Something went wrong on our side.', {
    cause: error,
  });
}

/** For the wire: status code, sentence, and the exact kind and code in trailing metadata. */
export function toServiceError(error: unknown): Partial<ServiceError> {
  const domain = toDomainError(error);
  const metadata = new Metadata();
  metadata.set(KIND, domain.kind);
  metadata.set(CODE, domain.code);
  if (domain.retryAfterSeconds !== undefined) {
    metadata.set(RETRY_AFTER, String(domain.retryAfterSeconds));
  }
  return { code: STATUS[domain.kind], details: encodeURIComponent(domain.message), metadata };
}

/** Whether the transport failed, so that it is unknown if the call was carried out. */
export function isLostConnection(error: ServiceError): boolean {
  // A server that ends before its calls do cancels them.
  const isLost = error.code === status.UNAVAILABLE || error.code === status.CANCELLED;
  return isLost && error.metadata?.get(KIND)[0] === undefined;
}

/** The inverse; errors of the transport itself become `unavailable` or `deadline_exceeded`. */
export function fromServiceError(error: ServiceError): DomainError {
  const kind = error.metadata?.get(KIND)[0]?.toString();
  const code = error.metadata?.get(CODE)[0]?.toString();
  if (isErrorKind(kind) && code !== undefined) {
    const retryAfter = error.metadata.get(RETRY_AFTER)[0];
    const options = retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) };
    // A service of a newer version may have codes that are not in our list: they pass as they are.
    const parts = [kind, code, decodeURIComponent(error.details), options];
    return new DomainError(...(parts as DomainErrorArguments));
  }
  switch (error.code) {
    case status.DEADLINE_EXCEEDED:
      return new DomainError(
        'deadline_exceeded',
        'deadline_exceeded',
        'The request took longer than its deadline. Try again, or ask for less at once.',
        { retryAfterSeconds: 1, cause: error },
      );
    case status.UNAVAILABLE:
    case status.CANCELLED:
      return new DomainError(
        'unavailable',
        'unavailable',
        'A service behind this request is not reachable. Try again in a moment.',
        { retryAfterSeconds: 1, cause: error },
      );
    default:
      return new DomainError('internal', 'internal', 'Something went wrong on our side.', {
        cause: error,
      });
  }
}

function isErrorKind(value: string | undefined): value is ErrorKind {
  return value !== undefined && (ERROR_KINDS as readonly string[]).includes(value);
}
