import { InvalidError, type Principal } from '@dak/kernel';
import type { RouteReply } from '../http/route';
import { auditSource } from '../audit/audit-log';
import { invalidCredentials } from '../http/authenticator';
import type { SessionCaller, SessionParts } from './login';
import {
  endInvites,
  endOtherSessions,
  findOwnPassword,
  isGoingOn,
  setPasswordHash,
} from './session-store';

/**
 * Replaces the caller's password. A wrong current one counts as a failed login: a stolen session is no way to guess on.
 */
export async function changePassword(
  parts: SessionParts,
  caller: SessionCaller & { principal: Principal },
  body: { current: string; new: string },
): Promise<RouteReply> {
  const { organizationId, userId, credentialId } = caller.principal;
  const { database } = parts.store;
  const person = await database.inTenant(organizationId, (tx) =>
    findOwnPassword(tx, caller.principal),
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
    database.inTenant(organizationId, async (tx) => {
      const at = new Date(parts.clock()).toISOString();
      await setPasswordHash(tx, { organizationId, userId }, passwordHash, at);
      // Of two sessions that change it at once, the first one ends the other.
      if (!(await isGoingOn(tx, organizationId, credentialId))) throw invalidCredentials();
      await endOtherSessions(tx, { organizationId, userId }, credentialId, at, 'password_changed');
      await endInvites(tx, { organizationId, userId }, at);
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
