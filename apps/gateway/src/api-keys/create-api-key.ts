import type { CreateApiKey } from '@dak/contracts/api';
import {
  displayPrefix,
  ForbiddenError,
  hashApiKey,
  InvalidError,
  newApiKey,
  SCOPES,
  uuidv7,
  type Scope,
} from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { toApiKeyRecord } from '../identity/records';
import { lockParent } from './api-key-store';

/**
 * Makes a key of the caller; its full value is in this reply only. Made with a key, it ends with that key: it expires no
 * later and is revoked together with it.
 */
export function createApiKey(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: CreateApiKey,
): Promise<RouteReply> {
  const { organizationId, userId } = caller.principal;
  const expiresAt = body.expires_at == null ? null : new Date(body.expires_at);
  if (expiresAt !== null && expiresAt.getTime() <= parts.clock()) {
    throw new InvalidError('expires_at lies in the past: send a later time, or leave it out.');
  }
  requireOwnScopes(caller.principal.scopes, body.scopes);
  return changeIdentity(parts, caller, async (tx) => {
    const parent = await lockParent(tx, caller.principal);
    const key = newApiKey();
    const row = await tx.db.apiKey.create({
      data: {
        organizationId,
        id: uuidv7(),
        userId,
        name: body.name,
        scopes: SCOPES.filter((scope) => body.scopes.includes(scope)),
        secretHash: new Uint8Array(hashApiKey(key)),
        prefix: displayPrefix(key),
        expiresAt: earlier(expiresAt, parent?.expiresAt ?? null),
        parentId: parent?.id ?? null,
      },
    });
    const record = toApiKeyRecord(row);
    await parts.audit.record(tx, auditSource(caller), {
      action: 'api_key.created',
      target: { type: 'api_key', id: row.id },
      outcome: 'succeeded',
      details: {
        name: row.name,
        scopes: row.scopes,
        prefix: row.prefix,
        expires_at: record.expires_at,
        ...(parent === null ? {} : { parent_id: parent.id }),
      },
    });
    return { status: 201, body: { ...record, key } };
  });
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** A credential grants no more than it has; in particular, a key cannot make a stronger key. */
function requireOwnScopes(own: readonly Scope[], wanted: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !own.includes(scope));
  if (missing.length === 0) return;
  throw new ForbiddenError(
    `scopes has ${missing.join(', ')}, which your own credential does not have: leave ${missing.length === 1 ? 'it' : 'them'} out.`,
    'missing_scope',
  );
}
