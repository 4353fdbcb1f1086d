import { createPublicKey, type KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

/** Seconds. */
export const ACCESS_TOKEN_LIFETIME = 900;

export interface AccessClaims {
  organizationId: string;
  userId: string;
  sessionId: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

const PAYLOAD = z.object({ sub: z.string(), org: z.string(), sid: z.string(), exp: z.int() });

/** Session tokens: JWTs (RFC 7519) signed with EdDSA (RFC 8037), and no other algorithm or type. */
export class AccessTokens {
  private readonly publicKey: KeyObject;

  /** @param privateKey Ed25519 */
  constructor(private readonly privateKey: KeyObject) {
    this.publicKey = createPublicKey(privateKey);
  }

  issue(claims: Omit<AccessClaims, 'expiresAt'>, now: number): Promise<string> {
    const issuedAt = Math.floor(now / 1000);
    return new SignJWT({
      iss: 'dak',
      aud: 'dak',
      sub: claims.userId,
      org: claims.organizationId,
      sid: claims.sessionId,
      iat: issuedAt,
      exp: issuedAt + ACCESS_TOKEN_LIFETIME,
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
      .sign(this.privateKey);
  }

  /** Null for anything but an unexpired token of this deployment. */
  async verify(token: string, now: number): Promise<AccessClaims | null> {
    try {
      const { payload } = await jwtVerify(token, this.publicKey, {
        algorithms: ['EdDSA'],
        typ: 'JWT',
        issuer: 'dak',
        audience: 'dak',
        currentDate: new Date(now),
      });
      const { sub, org, sid, exp } = PAYLOAD.parse(payload);
      return { organizationId: org, userId: sub, sessionId: sid, expiresAt: exp };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return null;
      throw error;
    }
  }
}
