import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Principal } from '@dak/kernel';
import { refusedToken, type CallSigner } from './call-token';

const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'dak-principal' })).toString(
  'base64url',
);
const LIFETIME_MS = 60_000;
/** A token is renewed after this time, which keeps signing off the hot path and tokens short-lived. */
const REUSE_MS = 30_000;
const CACHE_LIMIT = 10_000;

interface Claims {
  /** Expiry, seconds since the epoch. */
  exp: number;
  /** The service that it is meant for, such as `mail` (RFC 7519 §4.1.3). */
  aud: string;
  principal: Principal | null;
}

/** Mints the principal's JWS (RFC 7515, EdDSA of RFC 8037); only the gateway holds the private key. */
export class PrincipalSigner implements CallSigner {
  private readonly cache = new WeakMap<Principal, { token: string; reuseUntil: number }>();
  private gateway: { token: string; reuseUntil: number } | null = null;

  /** @param audience name of the service that is called */
  constructor(
    private readonly privateKey: KeyObject,
    private readonly audience: string,
  ) {}

  sign(principal: Principal | null, now: number = Date.now()): string {
    const cached = principal === null ? this.gateway : this.cache.get(principal);
    if (cached && cached.reuseUntil > now) return cached.token;
    const exp = Math.floor((now + LIFETIME_MS) / 1000);
    const claims: Claims = { exp, aud: this.audience, principal };
    const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const signature = sign(null, Buffer.from(signed), this.privateKey).toString('base64url');
    const entry = { token: `${signed}.${signature}`, reuseUntil: now + REUSE_MS };
    if (principal === null) this.gateway = entry;
    else this.cache.set(principal, entry);
    return entry.token;
  }
}

/** Verifies the principal's JWS with the gateway's public key; a verified token is remembered until it expires. */
export class PrincipalVerifier {
  private readonly publicKey: KeyObject;
  private readonly cache = new Map<string, Claims>();

  /** @param audience name of the service that verifies */
  constructor(
    key: KeyObject,
    private readonly audience: string,
  ) {
    this.publicKey = key.type === 'private' ? createPublicKey(key) : key;
  }

  /**
   * `null` is the gateway itself.
   * @throws DomainError `unauthenticated` for an unsigned, altered or expired token, and for one that is
   *   meant for another service
   */
  verify(token: string, now: number = Date.now()): Principal | null {
    let claims = this.cache.get(token);
    if (claims === undefined) {
      claims = this.check(token);
      if (this.cache.size >= CACHE_LIMIT) this.cache.clear();
      this.cache.set(token, claims);
    }
    if (claims.exp * 1000 <= now || claims.aud !== this.audience) throw refusedToken();
    return claims.principal;
  }

  private check(token: string): Claims {
    const [header, payload, signature] = token.split('.');
    if (header !== HEADER || payload === undefined || signature === undefined) throw refusedToken();
    const isGenuine = verify(
      null,
      Buffer.from(`${header}.${payload}`),
      this.publicKey,
      Buffer.from(signature, 'base64url'),
    );
    if (!isGenuine) throw refusedToken();
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
  }
}
