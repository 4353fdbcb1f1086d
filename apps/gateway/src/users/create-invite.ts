import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@dak/kernel';
import type { GatewayTransaction } from '../database/gateway-store';
import type { IdentityParts } from '../identity/identity-parts';

const LIFETIME_MS = 7 * 24 * 3_600_000;

export interface Invite {
  invite_token: string;
  invite_expires_at: string;
}

/** The reply without an invite token: there is a password, or the caller is an API key. */
export const NO_INVITE = { invite_token: null, invite_expires_at: null };

/** Makes a one-use token with which a person sets their password; earlier ones of theirs end. */
export async function createInvite(
  parts: Pick<IdentityParts, 'clock'>,
  tx: GatewayTransaction,
  organizationId: string,
  userId: string,
): Promise<Invite> {
  const now = new Date(parts.clock());
  const token = `inv_${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await tx.db.invite.updateMany({
    where: { organizationId, userId, usedAt: null },
    data: { usedAt: now },
  });
  await tx.db.invite.create({
    data: { organizationId, id: uuidv7(), userId, tokenHash: inviteHash(token), expiresAt },
  });
  return { invite_token: token, invite_expires_at: expiresAt.toISOString() };
}

export function inviteHash(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token).digest());
}
