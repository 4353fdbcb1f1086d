import { NotFoundError } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { revokeWithDescendants } from './api-key-store';

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
