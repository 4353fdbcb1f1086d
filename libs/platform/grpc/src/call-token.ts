import { DomainError, type Principal } from '@dak/kernel';

/** Mints what proves to a service who calls. */
export interface CallSigner {
  /** @param principal `null` for a call of the signer itself */
  sign(principal: Principal | null): string;
}

export function refusedToken(): DomainError {
  return new DomainError(
    'unauthenticated',
    'invalid_principal',
    'The call carries no valid principal.',
  );
}
