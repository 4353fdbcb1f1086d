import { createHash, randomBytes } from 'node:crypto';
import { DomainError, uuidv7 } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { AuditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import { ACCESS_TOKEN_LIFETIME } from '../identity/access-token';
import type { IdentityParts } from '../identity/identity-parts';
import { verifyPassword } from '../identity/password';
import { toUserRecord, USER_INCLUDE } from '../identity/records';
import type { LoginThrottle } from './login-throttle';
import { sessionCookie } from './session-cookie';
import { addRefreshToken, addSession, findLogin, type LoginRow } from './session-store';

const SESSION_LIFETIME_MS = 30 * 24 * 3_600_000;

export interface SessionParts extends IdentityParts {
  throttle: LoginThrottle;
}

/** The person behind a session that begins or goes on. */
export interface SessionOwner {
  organizationId: string;
  userId: string;
  sessionId: string;
}

/**
 * E-mail and password → session. An unknown address, a wrong password, an inactive user and a
 * suspended organization give one answer at one cost.
 */
export async function login(
  parts: SessionParts,
  caller: { requestId: string; clientAddress: string },
  body: { email: string; password: string },
): Promise<RouteReply> {
  await parts.throttle.check(body.email, caller.clientAddress);
  const row = await parts.store.database.asWorker((tx) => findLogin(tx, body.email));
  const isRight = await verifyPassword(body.password, row?.passwordHash ?? null);
  if (!isRight || row === null || !mayLogIn(row)) {
    await parts.throttle.countFailure(body.email, caller.clientAddress);
    if (row !== null) await noteFailure(parts, row, caller, isRight);
    throw new DomainError(
      'unauthenticated',
      'invalid_login',
      'email and password do not belong to an active user: check both.',
    );
  }
  return startSession(parts, row, caller.requestId, 'session.login');
}

function mayLogIn(row: LoginRow): boolean {
  return row.active && row.organizationStatus === 'active';
}

function noteFailure(
  parts: SessionParts,
  row: LoginRow,
  caller: { requestId: string; clientAddress: string },
  isRight: boolean,
): Promise<void> {
  return parts.audit.recordAlone(sourceOf(row, caller.requestId), {
    action: 'session.login',
    target: { type: 'user', id: row.userId },
    outcome: 'refused',
    details: { reason: isRight ? 'not_active' : 'wrong_password', address: caller.clientAddress },
  });
}

/** Begins a session and answers as login does. */
export async function startSession(
  parts: SessionParts,
  row: LoginRow,
  requestId: string,
  action: string,
): Promise<RouteReply> {
  const now = parts.clock();
  const owner = { organizationId: row.organizationId, userId: row.userId, sessionId: uuidv7() };
  const refreshToken = await parts.store.database.inTenant(row.organizationId, async (tx) => {
    await addSession(tx, {
      organizationId: owner.organizationId,
      id: owner.sessionId,
      userId: owner.userId,
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + SESSION_LIFETIME_MS).toISOString(),
    });
    const token = await issueRefreshToken(tx, owner, now);
    await parts.audit.record(tx, sourceOf(row, requestId), {
      action,
      target: { type: 'session', id: owner.sessionId },
      outcome: 'succeeded',
    });
    return token;
  });
  return sessionReply(parts, owner, refreshToken);
}

export async function issueRefreshToken(
  tx: SqlExecutor,
  owner: SessionOwner,
  now: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await addRefreshToken(tx, {
    organizationId: owner.organizationId,
    sessionId: owner.sessionId,
    hash: refreshHash(token),
    createdAt: new Date(now).toISOString(),
  });
  return token;
}

export function refreshHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export async function sessionReply(
  parts: SessionParts,
  owner: SessionOwner,
  refreshToken: string,
): Promise<RouteReply> {
  const { organizationId, userId } = owner;
  const user = await parts.store.inTenant(organizationId, ({ db }) =>
    db.userAccount.findFirstOrThrow({
      where: { organizationId, id: userId },
      include: USER_INCLUDE,
    }),
  );
  return {
    status: 200,
    body: {
      access_token: parts.tokens.issue(owner, parts.clock()),
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_LIFETIME,
      user: toUserRecord(user),
    },
    headers: {
      'Set-Cookie': sessionCookie(refreshToken, SESSION_LIFETIME_MS / 1000, parts.isHttps),
    },
  };
}

export function sourceOf(
  row: { organizationId: string; userId: string; displayName: string },
  requestId: string,
): AuditSource {
  return {
    organizationId: row.organizationId,
    actor: { type: 'user', id: row.userId, name: row.displayName },
    requestId,
  };
}
