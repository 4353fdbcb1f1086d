import { DomainError, RefusedError } from '@dak/kernel';

/** @throws RefusedError `idempotency_mismatch` when the key was used with another request */
export function requireSameRequest(storedHash: string, askedHash: string): void {
  if (storedHash === askedHash) return;
  throw new RefusedError(
    'This Idempotency-Key was used with another request: send the same body again, or a new key.',
    'idempotency_mismatch',
  );
}

/** For a request whose key is held by another transaction. */
export function stillRunning(): DomainError {
  return new DomainError(
    'conflict',
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running: wait for its answer, then repeat.',
    { retryAfterSeconds: 1 },
  );
}
