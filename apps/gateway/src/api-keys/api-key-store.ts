import type { Principal } from '@dak/kernel';
import type { GatewayTransaction } from '../database/gateway-store';
import { invalidCredentials } from '../http/authenticator';

interface ParentKey {
  id: string;
  expiresAt: Date | null;
}

/**
 * The key of the caller, held until the new one is stored, so that a revocation at the same time finds both.
 * @returns null for a session
 */
export async function lockParent(
  tx: GatewayTransaction,
  principal: Principal,
): Promise<ParentKey | null> {
  if (principal.type === 'session') return null;
  const { rows } = await tx.query<{
    id: string;
    expiresAt: string | null;
    revokedAt: string | null;
  }>(
    `select id, expires_at as "expiresAt", revoked_at as "revokedAt"
       from api_key
      where organization_id = $1::uuid
        and id = $2::uuid
        for share`,
    [principal.organizationId, principal.credentialId],
  );
  const parent = rows[0];
  if (parent === undefined || parent.revokedAt !== null) throw invalidCredentials();
  return {
    id: parent.id,
    expiresAt: parent.expiresAt === null ? null : new Date(parent.expiresAt),
  };
}

interface RevokedKey {
  id: string;
  name: string;
  prefix: string;
}

const REVOKE = `
  with recursive family as (
    select id from api_key where organization_id = $1::uuid and id = $2::uuid
    union
    select k.id
      from api_key k
      join family f on k.organization_id = $1::uuid and k.parent_id = f.id
  )
  update api_key k
     set revoked_at = $3::timestamptz
    from family f
   where k.organization_id = $1::uuid
     and k.id = f.id
     and k.revoked_at is null
  returning k.id, k.name, k.prefix`;

/** Those that were not revoked before. */
export async function revokeWithDescendants(
  tx: GatewayTransaction,
  organizationId: string,
  keyId: string,
  now: number,
): Promise<RevokedKey[]> {
  const all: RevokedKey[] = [];
  // A key that was being made with one of them held the update up and is seen by the next one only.
  for (;;) {
    const values = [organizationId, keyId, new Date(now).toISOString()];
    const { rows } = await tx.query<RevokedKey>(REVOKE, values);
    if (rows.length === 0) return all;
    all.push(...rows);
  }
}
