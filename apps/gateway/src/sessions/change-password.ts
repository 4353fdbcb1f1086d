import { InvalidError, type Principal } from '@dak/kernel';
import type { RouteReply } from '../http/route';
import { auditSource } from '../audit/audit-log';
import { invalidCredentials } from '../http/authenticator';
import type { SessionCaller, SessionParts } from './login';
import { endOtherSessions, setPasswordHash } from './session-store';

/**
 * Replaces the caller's password. A wrong current one counts as a failed login: a stolen session is no way to guess on.
 */
export async function changePassword(
  parts: SessionParts,
  caller: SessionCaller & { principal: Principal },
  body: { current: string; new: string },
): Promise<RouteReply> {
  const { organizationId, userId, credentialId } = caller.principal;
  const person = await parts.store.inTenant(organizationId, ({ db }) =>
    db.userAccount.findFirst({ where: { organizationId, id: userId } }),
  );
  if (person === null) throw new InvalidError('There is no password to change.', 'wrong_password');
  const [isRight] = await parts.throttle.attempt(person.email, caller.clientAddress, () =>
    parts.passwords.matches(body.current, [person.passwordHash]),
  );
  if (isRight !== true) {
    parts.loginFailed();
    throw new InvalidError('current is not your password: check it.', 'wrong_password');
  }
  await parts.throttle.giveBack(person.email, caller.clientAddress);
  const passwordHash = await parts.passwords.hash(person.email, body.new);
  await parts.versions.change(organizationId, () =>
    parts.store.inTenant(organizationId, async (tx) => {
      const at = new Date(parts.clock());
      await setPasswordHash(tx, { organizationId, userId }, passwordHash, at);
      // If two sessions change it at once, the first ends the other.
      const own = { organizationId, id: credentialId, revokedAt: null };
      if ((await tx.db.session.count({ where: own })) === 0) throw invalidCredentials();
      await endOtherSessions(tx, { organizationId, userId }, credentialId, at);
      // An old invite can no longer be used to set the user's password.
      await tx.db.invite.updateMany({
        where: { organizationId, userId, usedAt: null },
        data: { usedAt: at },
      });
      await parts.audit.record(tx, auditSource(caller), {
        action: 'user.password_changed',
        target: { type: 'user', id: userId },
        outcome: 'succeeded',
      });
    }),
  );
  await parts.passwordChanged(person.email, userId);
  return { status: 204 };
}
