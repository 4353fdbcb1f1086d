import { ConflictError, ForbiddenError, NotFoundError } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { createInvite } from './create-invite';

/** A new token for a person who lost theirs or their password; accepting it sets a new password. */
export function inviteUser(
  parts: IdentityParts,
  caller: IdentityCaller,
  userId: string,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const user = await tx.db.userAccount.findFirst({ where: { organizationId, id: userId } });
    if (user === null) throw new NotFoundError('user');
    if (!user.active) throw new ConflictError('The user is not active: activate them first.');
    if (user.role === 'superadmin' && caller.principal.role !== 'superadmin') {
      throw new ForbiddenError('A superadmin is changed by a superadmin only.', 'missing_role');
    }
    const invite = await createInvite(parts, tx, organizationId, userId);
    await parts.audit.record(tx, auditSource(caller), {
      action: 'user.invited',
      target: { type: 'user', id: userId },
      outcome: 'succeeded',
      details: { expires_at: invite.invite_expires_at },
    });
    return { status: 201, body: invite };
  });
}
