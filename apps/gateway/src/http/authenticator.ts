import type { IncomingHttpHeaders } from 'node:http';
import { DomainError, type Principal } from '@dak/kernel';

/** A credential that was resolved before. */
export interface KnownCredential {
  readonly principal: Principal;
}

/** Resolves a credential to its principal, current as of this request. */
export interface Authenticator {
  /** What this process remembers of the credential; says nothing about whether it still holds. */
  recall(credential: string): KnownCredential | undefined;
  /** True while nothing that decides about the principal has changed anywhere. */
  isCurrent(known: KnownCredential): Promise<boolean>;
  /**
   * From the database.
   * @throws DomainError unauthenticated
   */
  resolve(credential: string): Promise<KnownCredential>;
}

/**
 * The bearer token, or else the X-API-Key header.
 * @throws DomainError unauthenticated when the request carries neither
 */
export function credentialOf(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    return authorization.slice(7).trim();
  }
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return key.trim();
  throw new DomainError(
    'unauthenticated',
    'missing_credentials',
    'Credentials are missing: send "Authorization: Bearer <API key or session token>" or "X-API-Key: <API key>".',
  );
}

export function invalidCredentials(): DomainError {
  return new DomainError(
    'unauthenticated',
    'invalid_credentials',
    'The credentials are not valid: the key or token is unknown, expired or revoked.',
  );
}
