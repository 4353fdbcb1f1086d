import { NotFoundError } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';

/** Ends a key with its next request, on every replica; a second time changes nothing. */
export function revokeApiKey(
  parts: IdentityParts,
  caller: IdentityCaller,
  keyId: string,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const row = await tx.db.apiKey.findFirst({ where: { organizationId, id: keyId } });
    if (row === null) throw new NotFoundError('API key');
    if (row.revokedAt !== null) return { status: 204 };
    await tx.db.apiKey.update({
      where: { organizationId_id: { organizationId, id: keyId } },
      data: { revokedAt: new Date(parts.clock()) },
    });
    await parts.audit.record(tx, auditSource(caller), {
      action: 'api_key.revoked',
      target: { type: 'api_key', id: keyId },
      outcome: 'succeeded',
      details: { name: row.name, prefix: row.prefix },
    });
    return { status: 204 };
  });
}
