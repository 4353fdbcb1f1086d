import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Principal } from '@dak/kernel';
import { refusedToken, type CallSigner } from './call-token';

const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'dak-principal' })).toString(
  'base64url',
);
const LIFETIME_MS = 60_000;
/** A token is signed anew after this time, so that signing stays off the hot path and tokens stay short-lived. */
const REUSE_MS = 30_000;
const CACHE_LIMIT = 10_000;

interface Claims {
  /** Expiry, seconds since the epoch. */
  exp: number;
  principal: Principal | null;
}

/** Mints the principal's JWS (RFC 7515, EdDSA of RFC 8037); only the gateway holds the private key. */
export class PrincipalSigner implements CallSigner {
  private readonly cache = new WeakMap<Principal, { token: string; reuseUntil: number }>();
  private gateway: { token: string; reuseUntil: number } | null = null;

  constructor(private readonly privateKey: KeyObject) {}

  sign(principal: Principal | null, now: number = Date.now()): string {
    const cached = principal === null ? this.gateway : this.cache.get(principal);
    if (cached && cached.reuseUntil > now) return cached.token;
    const claims: Claims = { exp: Math.floor((now + LIFETIME_MS) / 1000), principal };
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

  constructor(key: KeyObject) {
    this.publicKey = key.type === 'private' ? createPublicKey(key) : key;
  }

  /**
   * `null` is the gateway itself.
   * @throws DomainError `unauthenticated` for an unsigned, altered or expired token
   */
  verify(token: string, now: number = Date.now()): Principal | null {
    let claims = this.cache.get(token);
    if (claims === undefined) {
      claims = this.check(token);
      if (this.cache.size >= CACHE_LIMIT) this.cache.clear();
      this.cache.set(token, claims);
    }
    if (claims.exp * 1000 <= now) throw refusedToken();
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
