import type { SqlExecutor } from '@dak/platform/postgres';
import type { LoginRow } from './session-store';

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

export async function selectInvited(
  tx: SqlExecutor,
  tokenHash: Buffer,
  at: string,
): Promise<InvitedRow | null> {
  return (await tx.query<InvitedRow>(FIND_INVITED, [tokenHash, at])).rows[0] ?? null;
}

/** Uses the invite up. */
export async function takeInvite(
  tx: SqlExecutor,
  tokenHash: Buffer,
  at: string,
): Promise<InvitedRow | null> {
  return (await tx.query<InvitedRow>(TAKE_INVITE, [tokenHash, at])).rows[0] ?? null;
}
