import { randomBytes } from 'node:crypto';
import { NotFoundError, systemClock } from '@dak/kernel';
import { SYSTEM_ACTOR } from '../audit/audit-entry';
import { AuditLog } from '../audit/audit-log';
import { GatewayStore } from '../database/gateway-store';
import { Passwords } from '../identity/password';
import { selectSuperadmin } from './user-store';

/**
 * Gives the first superadmin another password, for the owner of the data: activates them and ends their sessions.
 * @param databaseUrl of the gateway's database
 * @throws NotFoundError when there is no superadmin
 */
export async function resetSuperadmin(
  databaseUrl: string,
): Promise<{ email: string; password: string }> {
  const store = new GatewayStore(databaseUrl);
  try {
    const found = await store.database.asWorker(selectSuperadmin);
    if (found === null) throw new NotFoundError('superadmin');
    const { organizationId, id, email } = found;
    const password = randomBytes(15).toString('base64url');
    // The salt is in the hash; the next login makes one with the deployment's own.
    const passwordHash = await new Passwords(randomBytes(32)).hash(email, password);
    const now = new Date(systemClock());
    await store.acrossTenants(organizationId, async (tx) => {
      // First: a login that is under way either comes before it, and is ended here, or finds another password.
      await tx.db.userAccount.update({
        where: { organizationId_id: { organizationId, id } },
        data: { passwordHash, active: true, version: { increment: 1 }, updatedAt: now },
      });
      await tx.db.session.updateMany({
        where: { organizationId, userId: id, revokedAt: null },
        data: { revokedAt: now, revokedReason: 'password_reset' },
      });
      await tx.db.invite.updateMany({
        where: { organizationId, userId: id, usedAt: null },
        data: { usedAt: now },
      });
      await new AuditLog(store.database, systemClock).record(
        tx,
        { organizationId, actor: SYSTEM_ACTOR, requestId: 'superadmin-reset' },
        {
          action: 'user.password_reset',
          target: { type: 'user', id },
          outcome: 'succeeded',
          details: { by: 'command' },
        },
      );
    });
    return { email, password };
  } finally {
    await store.close();
  }
}
