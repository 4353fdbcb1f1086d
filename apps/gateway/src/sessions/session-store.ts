import type { SqlExecutor } from '@dak/platform/postgres';

export interface LoginRow {
  organizationId: string;
  organizationStatus: string;
  userId: string;
  displayName: string;
  active: boolean;
  passwordHash: string | null;
}

const FIND_LOGIN = `
  select u.organization_id as "organizationId",
         o.status          as "organizationStatus",
         u.id              as "userId",
         u.display_name    as "displayName",
         u.active          as "active",
         u.password_hash   as "passwordHash"
    from user_account u
    join organization o on o.id = u.organization_id
   where u.email = $1
   order by u.created_at, u.id`;

/** Across tenants: an e-mail address has one user in each organization at most. The oldest comes first. */
export async function findLogins(executor: SqlExecutor, email: string): Promise<LoginRow[]> {
  const { rows } = await executor.query<LoginRow>(FIND_LOGIN, [email]);
  return rows;
}

const SET_HASH = `
  update user_account
     set password_hash = $3, version = version + 1, updated_at = $4
   where organization_id = $1
     and id = $2`;

export async function setPasswordHash(
  executor: SqlExecutor,
  person: { organizationId: string; userId: string },
  passwordHash: string,
  at: string,
): Promise<void> {
  const { organizationId, userId } = person;
  await executor.query(SET_HASH, [organizationId, userId, passwordHash, at]);
}

const FIND_OWN = `
  select email, password_hash as "passwordHash"
    from user_account
   where organization_id = $1
     and id = $2`;

/** Null when the person is gone. */
export async function findOwnPassword(
  executor: SqlExecutor,
  person: { organizationId: string; userId: string },
): Promise<{ email: string; passwordHash: string | null } | null> {
  const { rows } = await executor.query<{ email: string; passwordHash: string | null }>(FIND_OWN, [
    person.organizationId,
    person.userId,
  ]);
  return rows[0] ?? null;
}

const REPLACE_HASH = `
  update user_account
     set password_hash = $4
   where organization_id = $1
     and id = $2
     and password_hash = $3`;

/** Leaves a password alone that was changed meanwhile. */
export async function replacePasswordHash(
  executor: SqlExecutor,
  change: { organizationId: string; userId: string; from: string; to: string },
): Promise<void> {
  const { organizationId, userId, from, to } = change;
  await executor.query(REPLACE_HASH, [organizationId, userId, from, to]);
}

/** Holds the person until the transaction ends: a change of the password comes before it, or ends the session. */
const BEGIN_SESSION = `
  update user_account
     set last_login_at = $4
   where organization_id = $1
     and id = $2
     and password_hash = $3
     and active`;

const ADD_SESSION = `
  insert into session (organization_id, id, user_id, created_at, expires_at, address)
       values ($1, $2, $3, $4, $5, $6)`;

/** False when the password has been changed since it was looked at, or the person was deactivated. */
export async function addSession(
  executor: SqlExecutor,
  session: {
    organizationId: string;
    id: string;
    userId: string;
    /** Of the password that was looked at. */
    passwordHash: string;
    createdAt: string;
    expiresAt: string;
    address: string;
  },
): Promise<boolean> {
  const { organizationId, id, userId, passwordHash, createdAt, expiresAt, address } = session;
  const person = [organizationId, userId, passwordHash, createdAt];
  if ((await executor.query(BEGIN_SESSION, person)).rowCount === 0) return false;
  await executor.query(ADD_SESSION, [organizationId, id, userId, createdAt, expiresAt, address]);
  return true;
}

const ADD_TOKEN = `
  insert into refresh_token (organization_id, session_id, token_hash, created_at)
       values ($1, $2, $3, $4)`;

export async function addRefreshToken(
  executor: SqlExecutor,
  token: { organizationId: string; sessionId: string; hash: Buffer; createdAt: string },
): Promise<void> {
  const { organizationId, sessionId, hash, createdAt } = token;
  await executor.query(ADD_TOKEN, [organizationId, sessionId, hash, createdAt]);
}

export interface RefreshRow {
  organizationId: string;
  organizationStatus: string;
  sessionId: string;
  userId: string;
  displayName: string;
  active: boolean;
  expiresAt: string;
  revokedAt: string | null;
  usedAt: string | null;
}

const LOCK_TOKEN = `
  select t.organization_id as "organizationId",
         o.status          as "organizationStatus",
         t.session_id      as "sessionId",
         s.user_id         as "userId",
         u.display_name    as "displayName",
         u.active          as "active",
         s.expires_at      as "expiresAt",
         s.revoked_at      as "revokedAt",
         t.used_at         as "usedAt"
    from refresh_token t
    join session s on s.organization_id = t.organization_id and s.id = t.session_id
    join user_account u on u.organization_id = s.organization_id and u.id = s.user_id
    join organization o on o.id = t.organization_id
   where t.token_hash = $1
     for update of t`;

/** Locked, so that of two uses at once one comes second and sees the first. */
export async function lockRefreshToken(
  executor: SqlExecutor,
  hash: Buffer,
): Promise<RefreshRow | null> {
  const { rows } = await executor.query<RefreshRow>(LOCK_TOKEN, [hash]);
  return rows[0] ?? null;
}

export async function useRefreshToken(
  executor: SqlExecutor,
  hash: Buffer,
  at: string,
): Promise<void> {
  await executor.query('update refresh_token set used_at = $2 where token_hash = $1', [hash, at]);
}

const END_OTHER_SESSIONS = `
  update session
     set revoked_at = $4, revoked_reason = $5
   where organization_id = $1
     and user_id = $2
     and id is distinct from $3::uuid
     and revoked_at is null`;

/** @param kept the session that goes on; null ends all of the person */
export async function endOtherSessions(
  executor: SqlExecutor,
  person: { organizationId: string; userId: string },
  kept: string | null,
  at: string,
  reason: string,
): Promise<void> {
  const { organizationId, userId } = person;
  await executor.query(END_OTHER_SESSIONS, [organizationId, userId, kept, at, reason]);
}

/** Whether the caller's session goes on: another one may have ended it while the request was under way. */
export async function isGoingOn(
  executor: SqlExecutor,
  organizationId: string,
  sessionId: string,
): Promise<boolean> {
  const { rowCount } = await executor.query(
    'select from session where organization_id = $1 and id = $2 and revoked_at is null',
    [organizationId, sessionId],
  );
  return rowCount > 0;
}

const END_INVITES = `
  update invite
     set used_at = $3
   where organization_id = $1
     and user_id = $2
     and used_at is null`;

/** Whoever has kept an invite cannot set the person's password with it any more. */
export async function endInvites(
  executor: SqlExecutor,
  person: { organizationId: string; userId: string },
  at: string,
): Promise<void> {
  await executor.query(END_INVITES, [person.organizationId, person.userId, at]);
}

const END_SESSION = `
  update session
     set revoked_at = $3, revoked_reason = $4
   where organization_id = $1
     and id = $2
     and revoked_at is null`;

/** False when it had ended before. */
export async function endSession(
  executor: SqlExecutor,
  session: { organizationId: string; sessionId: string },
  at: string,
  reason: string,
): Promise<boolean> {
  const { organizationId, sessionId } = session;
  const { rowCount } = await executor.query(END_SESSION, [organizationId, sessionId, at, reason]);
  return rowCount > 0;
}

/** Sessions and stored answers that nobody can use any more. */
export async function purgeExpired(executor: SqlExecutor, now: string): Promise<void> {
  await executor.query(
    `delete from session where expires_at < $1::timestamptz - interval '30 days'`,
    [now],
  );
  await executor.query('delete from idempotency_record where expires_at < $1', [now]);
}
