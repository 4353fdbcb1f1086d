import { InvalidError } from '@dak/kernel';
import type { RouteReply } from '../http/route';
import { inviteHash } from '../users/create-invite';
import { selectInvited, takeInvite } from './invite-store';
import { startSession, type SessionCaller, type SessionParts } from './login';
import { endOtherSessions, setPasswordHash } from './session-store';

/**
 * Sets the password of the invited person, ends their earlier sessions and begins a new one. A token that leads nowhere
 * costs one look-up.
 */
export async function acceptInvite(
  parts: SessionParts,
  caller: SessionCaller,
  body: { token: string; password: string },
): Promise<RouteReply> {
  const now = new Date(parts.clock());
  const at = now.toISOString();
  const tokenHash = Buffer.from(inviteHash(body.token));
  const invited = await parts.store.database.asWorker((tx) => selectInvited(tx, tokenHash, at));
  if (invited === null) throw invalidInvite();
  const passwordHash = await parts.passwords.hash(invited.email, body.password);
  const row = await parts.versions.change(invited.organizationId, () =>
    parts.store.asWorker(async (tx) => {
      const taken = await takeInvite(tx, tokenHash, at);
      if (taken === null) throw invalidInvite();
      await setPasswordHash(tx, taken, passwordHash, now);
      await endOtherSessions(tx, taken, null, now);
      return taken;
    }),
  );
  await parts.passwordChanged(row.email, row.userId);
  const reply = await startSession(parts, { ...row, passwordHash }, caller, 'invite.accepted');
  // Another password was set in between.
  if (reply === null) throw invalidInvite();
  return reply;
}

function invalidInvite(): InvalidError {
  return new InvalidError(
    'token is unknown, used or expired: ask an admin of your organization for a new invite.',
    'invalid_invite',
  );
}
