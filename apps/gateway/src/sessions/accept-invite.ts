import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { RouteReply } from '../http/route';
import { hashPassword } from '../identity/password';
import { inviteHash } from '../users/create-invite';
import { startSession, type SessionParts } from './login';
import type { LoginRow } from './session-store';

const TAKE_INVITE = `
  update invite i
     set used_at = $2
    from user_account u
    join organization o on o.id = u.organization_id
   where i.token_hash = $1
     and i.used_at is null
     and i.expires_at > $2
     and u.organization_id = i.organization_id
     and u.id = i.user_id
     and u.active
     and o.status = 'active'
  returning i.organization_id as "organizationId",
            o.status          as "organizationStatus",
            u.id              as "userId",
            u.display_name    as "displayName",
            u.active          as "active",
            u.password_hash   as "passwordHash"`;

const SET_PASSWORD = `
  update user_account
     set password_hash = $3, version = version + 1, updated_at = $4
   where organization_id = $1
     and id = $2`;

const END_SESSIONS = `
  update session
     set revoked_at = $3, revoked_reason = 'password_changed'
   where organization_id = $1
     and user_id = $2
     and revoked_at is null`;

/** Sets the password of the invited person, ends their earlier sessions and begins a new one. */
export async function acceptInvite(
  parts: SessionParts,
  caller: { requestId: string },
  body: { token: string; password: string },
): Promise<RouteReply> {
  const passwordHash = await hashPassword(body.password);
  const at = new Date(parts.clock()).toISOString();
  const row = await parts.store.database.asWorker(async (tx) => {
    const taken = await takeInvite(tx, body.token, at);
    if (taken === null) return null;
    await tx.query(SET_PASSWORD, [taken.organizationId, taken.userId, passwordHash, at]);
    await tx.query(END_SESSIONS, [taken.organizationId, taken.userId, at]);
    return taken;
  });
  if (row === null) {
    throw new InvalidError(
      'token is unknown, used or expired: ask an admin of your organization for a new invite.',
      'invalid_invite',
    );
  }
  // The ended sessions were remembered under the organization's stamp.
  await parts.versions.change(row.organizationId, () => Promise.resolve());
  return startSession(parts, row, caller.requestId, 'invite.accepted');
}

async function takeInvite(tx: SqlExecutor, token: string, at: string): Promise<LoginRow | null> {
  const { rows } = await tx.query<LoginRow>(TAKE_INVITE, [Buffer.from(inviteHash(token)), at]);
  return rows[0] ?? null;
}
