import { NotFoundError } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';

/**
 * Ends a key and all that were made with it, transitively, with their next request on every replica; a second time
 * changes nothing.
 */
export function revokeApiKey(
  parts: IdentityParts,
  caller: IdentityCaller,
  keyId: string,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const row = await tx.db.apiKey.findFirst({ where: { organizationId, id: keyId } });
    if (row === null) throw new NotFoundError('API key');
    for (const revoked of await revokeWithDescendants(tx, organizationId, keyId, parts.clock())) {
      await parts.audit.record(tx, auditSource(caller), {
        action: 'api_key.revoked',
        target: { type: 'api_key', id: revoked.id },
        outcome: 'succeeded',
        details: {
          name: revoked.name,
          prefix: revoked.prefix,
          ...(revoked.id === keyId ? {} : { revoked_with: keyId }),
        },
      });
    }
    return { status: 204 };
  });
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
async function revokeWithDescendants(
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
