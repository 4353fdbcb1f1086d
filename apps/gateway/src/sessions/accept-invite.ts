import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { RouteReply } from '../http/route';
import { inviteHash } from '../users/create-invite';
import { startSession, type SessionCaller, type SessionParts } from './login';
import { endOtherSessions, setPasswordHash, type LoginRow } from './session-store';

interface InvitedRow extends LoginRow {
  email: string;
}

const INVITED = `
            u.organization_id as "organizationId",
            o.status          as "organizationStatus",
            u.id              as "userId",
            u.email           as "email",
            u.display_name    as "displayName",
            u.active          as "active",
            u.password_hash   as "passwordHash"`;

const FIND_INVITED = `
  select ${INVITED}
    from invite i
    join user_account u on u.organization_id = i.organization_id and u.id = i.user_id
    join organization o on o.id = u.organization_id
   where i.token_hash = $1
     and i.used_at is null
     and i.expires_at > $2
     and u.active
     and o.status = 'active'`;

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
  returning ${INVITED}`;

/**
 * Sets the password of the invited person, ends their earlier sessions and begins a new one. A token that leads nowhere
 * costs one look-up.
 */
export async function acceptInvite(
  parts: SessionParts,
  caller: SessionCaller,
  body: { token: string; password: string },
): Promise<RouteReply> {
  const at = new Date(parts.clock()).toISOString();
  const query = async (tx: SqlExecutor, text: string): Promise<InvitedRow> => {
    const { rows } = await tx.query<InvitedRow>(text, [Buffer.from(inviteHash(body.token)), at]);
    if (rows[0] !== undefined) return rows[0];
    throw invalidInvite();
  };
  const invited = await parts.store.database.asWorker((tx) => query(tx, FIND_INVITED));
  const passwordHash = await parts.passwords.hash(invited.email, body.password);
  const row = await parts.versions.change(invited.organizationId, () =>
    parts.store.database.asWorker(async (tx) => {
      const taken = await query(tx, TAKE_INVITE);
      await setPasswordHash(tx, taken, passwordHash, at);
      await endOtherSessions(tx, taken, null, at, 'password_changed');
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
