import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** Seconds. */
export const ACCESS_TOKEN_LIFETIME = 900;

export interface AccessClaims {
  organizationId: string;
  userId: string;
  sessionId: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

interface Payload {
  iss: 'dak';
  aud: 'dak';
  sub: string;
  org: string;
  sid: string;
  iat: number;
  exp: number;
}

const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' })).toString('base64url');

/** Session tokens: JWS compact (RFC 7515) with EdDSA (RFC 8037) and exactly one accepted header. */
export class AccessTokens {
  private readonly publicKey: KeyObject;

  /** @param privateKey Ed25519 */
  constructor(private readonly privateKey: KeyObject) {
    this.publicKey = createPublicKey(privateKey);
  }

  issue(claims: Omit<AccessClaims, 'expiresAt'>, now: number): string {
    const issuedAt = Math.floor(now / 1000);
    const payload: Payload = {
      iss: 'dak',
      aud: 'dak',
      sub: claims.userId,
      org: claims.organizationId,
      sid: claims.sessionId,
      iat: issuedAt,
      exp: issuedAt + ACCESS_TOKEN_LIFETIME,
    };
    const signed = `${HEADER}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
    return `${signed}.${sign(null, Buffer.from(signed), this.privateKey).toString('base64url')}`;
  }

  /** Null for anything but an unexpired token of this deployment. */
  verify(token: string, now: number): AccessClaims | null {
    const [header, body, signature, rest] = token.split('.');
    if (header !== HEADER || body === undefined || signature === undefined || rest !== undefined) {
      return null;
    }
    const bytes = Buffer.from(signature, 'base64url');
    if (!verify(null, Buffer.from(`${header}.${body}`), this.publicKey, bytes)) return null;
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Payload;
    if (payload.iss !== 'dak' || payload.aud !== 'dak' || payload.exp * 1000 <= now) return null;
    return {
      organizationId: payload.org,
      userId: payload.sub,
      sessionId: payload.sid,
      expiresAt: payload.exp,
    };
  }
}
