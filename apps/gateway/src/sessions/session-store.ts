import type { SqlExecutor } from '@dak/platform/postgres';
import type { GatewayTransaction } from '../database/gateway-store';

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

/** A person of an organization. */
export interface Person {
  organizationId: string;
  userId: string;
}

export async function setPasswordHash(
  { db }: GatewayTransaction,
  { organizationId, userId }: Person,
  passwordHash: string,
  at: Date,
): Promise<void> {
  await db.userAccount.updateMany({
    where: { organizationId, id: userId },
    data: { passwordHash, version: { increment: 1 }, updatedAt: at },
  });
}

/** Leaves a password alone that was changed meanwhile. */
export async function replacePasswordHash(
  { db }: GatewayTransaction,
  { organizationId, userId }: Person,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await db.userAccount.updateMany({
    where: { organizationId, id: userId, passwordHash: from },
    data: { passwordHash: to },
  });
}

/**
 * Holds the person until the transaction ends: a change of the password comes before it, or ends the session.
 * @param passwordHash of the password that was checked
 * @returns false when it has been changed since, or the person was deactivated
 */
export async function addSession(
  { db }: GatewayTransaction,
  session: {
    organizationId: string;
    id: string;
    userId: string;
    createdAt: Date;
    expiresAt: Date;
    address: string;
  },
  passwordHash: string,
): Promise<boolean> {
  const { organizationId, userId, createdAt } = session;
  const { count } = await db.userAccount.updateMany({
    where: { organizationId, id: userId, passwordHash, active: true },
    data: { lastLoginAt: createdAt },
  });
  if (count > 0) await db.session.create({ data: session });
  return count > 0;
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
  hash: Uint8Array,
): Promise<RefreshRow | null> {
  const { rows } = await executor.query<RefreshRow>(LOCK_TOKEN, [hash]);
  return rows[0] ?? null;
}

/** @param kept the session that goes on; null ends all of the person */
export async function endOtherSessions(
  { db }: GatewayTransaction,
  { organizationId, userId }: Person,
  kept: string | null,
  at: Date,
): Promise<void> {
  await db.session.updateMany({
    where: {
      organizationId,
      userId,
      revokedAt: null,
      ...(kept === null ? {} : { NOT: { id: kept } }),
    },
    data: { revokedAt: at, revokedReason: 'password_changed' },
  });
}

/** False when it had ended before. */
export async function endSession(
  { db }: GatewayTransaction,
  { organizationId, sessionId }: { organizationId: string; sessionId: string },
  at: Date,
  reason: string,
): Promise<boolean> {
  const { count } = await db.session.updateMany({
    where: { organizationId, id: sessionId, revokedAt: null },
    data: { revokedAt: at, revokedReason: reason },
  });
  return count > 0;
}

/** Sessions and stored answers that are no longer usable. */
export async function purgeExpired(executor: SqlExecutor, now: string): Promise<void> {
  await executor.query(
    `delete from session where expires_at < $1::timestamptz - interval '30 days'`,
    [now],
  );
  await executor.query('delete from idempotency_record where expires_at < $1', [now]);
}
