import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { DomainError, type Principal } from '@dak/kernel';
import { refusedToken, type CallSigner } from './call-token';

export const SERVICE_TOKEN_HEADER = Buffer.from(
  JSON.stringify({ alg: 'HS256', typ: 'dak-service' }),
).toString('base64url');
const LIFETIME_MS = 60_000;
/** A token is renewed after this time, which keeps signing off the hot path and tokens short-lived. */
const REUSE_MS = 30_000;

interface Claims {
  /** Expiry, seconds since the epoch. */
  exp: number;
  /** Who calls, such as `webhook`. */
  service: string;
  /** Whom, such as `mail`. */
  aud: string;
}

/**
 * Mints the token of a service that calls another on its own behalf (RFC 7515, HS256): a separate key,
 * derived from the secret that every service of the deployment has. It names no person, so that it
 * opens internal methods only.
 */
export class ServiceSigner implements CallSigner {
  private readonly key: Uint8Array;
  private current: { token: string; reuseUntil: number } | null = null;

  /**
   * @param secret `DAK_SECRET`
   * @param service name of the calling service
   * @param audience name of the service that is called
   */
  constructor(
    secret: string,
    private readonly service: string,
    private readonly audience: string,
  ) {
    this.key = keyOf(secret);
  }

  /** @throws DomainError `internal` for a principal: only the gateway speaks for people */
  sign(principal: Principal | null, now: number = Date.now()): string {
    if (principal !== null) {
      throw new DomainError(
        'internal',
        'wrong_principal',
        'Only the gateway can call in the name of a person.',
      );
    }
    if (this.current !== null && this.current.reuseUntil > now) return this.current.token;
    const exp = Math.floor((now + LIFETIME_MS) / 1000);
    const claims: Claims = { exp, service: this.service, aud: this.audience };
    const signed = `${SERVICE_TOKEN_HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const token = `${signed}.${signatureOf(this.key, signed).toString('base64url')}`;
    this.current = { token, reuseUntil: now + REUSE_MS };
    return token;
  }
}

/** Verifies what {@link ServiceSigner} minted under the same secret. */
export class ServiceVerifier {
  private readonly key: Uint8Array;

  /** @param audience name of the service that verifies */
  constructor(
    secret: string,
    private readonly audience: string,
  ) {
    this.key = keyOf(secret);
  }

  /**
   * @returns the name of the calling service
   * @throws DomainError `unauthenticated` for an unsigned, altered or expired token, and for one that is
   *   meant for another service
   */
  verify(token: string, now: number = Date.now()): string {
    const [header, payload, signature] = token.split('.');
    if (header !== SERVICE_TOKEN_HEADER || payload === undefined || signature === undefined) {
      throw refusedToken();
    }
    const given = Buffer.from(signature, 'base64url');
    const genuine = signatureOf(this.key, `${header}.${payload}`);
    if (given.length !== genuine.length || !timingSafeEqual(given, genuine)) throw refusedToken();
    const { exp, service, aud } = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as Claims;
    if (exp * 1000 <= now || aud !== this.audience) throw refusedToken();
    return service;
  }
}

function keyOf(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'dak', 'tokens of services', 32));
}

function signatureOf(key: Uint8Array, signed: string): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}
