import { createHash, randomBytes } from 'node:crypto';
import { DomainError, uuidv7 } from '@dak/kernel';
import type { AuditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import { ACCESS_TOKEN_LIFETIME } from '../identity/access-token';
import type { IdentityParts } from '../identity/identity-parts';
import { toUserRecord, USER_INCLUDE } from '../identity/records';
import type { LoginThrottle } from './login-throttle';
import { sessionCookie } from './session-cookie';
import { addSession, findLogins, replacePasswordHash, type LoginRow } from './session-store';

const SESSION_LIFETIME_MS = 30 * 24 * 3_600_000;

export interface SessionParts extends IdentityParts {
  throttle: LoginThrottle;
  /** Counts logins with a wrong password or an unknown address. */
  loginFailed: () => void;
  /** Removes stored first passwords of this address; never rejects. */
  passwordChanged: (email: string, userId: string) => Promise<void>;
}

/** A login request and its client. */
export interface SessionCaller {
  requestId: string;
  clientAddress: string;
}

/** The person behind a session that begins or goes on. */
export interface SessionOwner {
  organizationId: string;
  userId: string;
  sessionId: string;
}

/**
 * E-mail and password → session. An unknown address, a wrong password, an inactive user and a
 * suspended organization give one answer at one cost. An address may have a user in several organizations: the password
 * tells which one is meant.
 */
export async function login(
  parts: SessionParts,
  caller: SessionCaller,
  body: { email: string; password: string },
): Promise<RouteReply> {
  const rows = await parts.store.database.asWorker((tx) => findLogins(tx, body.email));
  const hashes = rows.map((row) => row.passwordHash);
  const matches = await parts.throttle.attempt(body.email, caller.clientAddress, () =>
    parts.passwords.matches(body.password, hashes),
  );
  const row = rows.find((one, index) => matches[index] === true && mayLogIn(one));
  if (row === undefined) {
    parts.loginFailed();
    rows.forEach((one, index) => noteFailure(parts, one, caller, matches[index] === true));
    throw new DomainError(
      'unauthenticated',
      'invalid_login',
      'email and password do not belong to an active user: check both.',
    );
  }
  await parts.throttle.giveBack(body.email, caller.clientAddress);
  const reply = await startSession(parts, row, caller, 'session.login');
  // Replaced since it was checked: the stored one decides.
  if (reply === null) return login(parts, caller, body);
  refreshHashLater(parts, row, body);
  return reply;
}

/** A hash of an earlier version is replaced while the password is at hand. */
function refreshHashLater(
  parts: SessionParts,
  { organizationId, userId, passwordHash }: LoginRow,
  { email, password }: { email: string; password: string },
): void {
  if (passwordHash === null || parts.passwords.isCurrent(email, passwordHash)) return;
  parts.afterAnswers.add(async () => {
    const replacement = await parts.passwords.hash(email, password);
    await parts.store.inTenant(organizationId, (tx) =>
      replacePasswordHash(tx, { organizationId, userId }, { from: passwordHash, to: replacement }),
    );
  });
}

function mayLogIn(row: LoginRow): boolean {
  return row.active && row.organizationStatus === 'active';
}

function noteFailure(
  parts: SessionParts,
  row: LoginRow,
  caller: SessionCaller,
  isRight: boolean,
): void {
  const { requestId, clientAddress: address } = caller;
  parts.afterAnswers.add(() =>
    parts.audit.recordAlone(sourceOf(row, requestId), {
      action: 'session.login',
      target: { type: 'user', id: row.userId },
      outcome: 'refused',
      details: { reason: isRight ? 'not_active' : 'wrong_password', address },
    }),
  );
}

/**
 * Begins a session and answers as login does.
 * @param row with the hash of the password that was checked
 * @returns null when the person has another password by now
 */
export async function startSession(
  parts: SessionParts,
  row: LoginRow,
  caller: SessionCaller,
  action: string,
): Promise<RouteReply | null> {
  const now = parts.clock();
  const owner = { organizationId: row.organizationId, userId: row.userId, sessionId: uuidv7() };
  const refreshToken = await parts.store.inTenant(row.organizationId, async (tx) => {
    const session = {
      organizationId: owner.organizationId,
      id: owner.sessionId,
      userId: owner.userId,
      address: caller.clientAddress,
      createdAt: new Date(now),
      expiresAt: new Date(now + SESSION_LIFETIME_MS),
    };
    if (!(await addSession(tx, session, row.passwordHash ?? ''))) return null;
    const token = await issueRefreshToken(tx, owner, newRefreshToken(), now);
    await parts.audit.record(tx, sourceOf(row, caller.requestId), {
      action,
      target: { type: 'session', id: owner.sessionId },
      outcome: 'succeeded',
    });
    return token;
  });
  return refreshToken === null ? null : sessionReply(parts, owner, refreshToken);
}

function newRefreshToken(): string {
  return randomBytes(32).toString('base64url');
}

export async function issueRefreshToken(
  { db }: GatewayTransaction,
  { organizationId, sessionId }: SessionOwner,
  token: string,
  now: number,
): Promise<string> {
  await db.refreshToken.create({
    data: { organizationId, sessionId, tokenHash: refreshHash(token), createdAt: new Date(now) },
  });
  return token;
}

export function refreshHash(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token).digest());
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
      access_token: await parts.tokens.issue(owner, parts.clock()),
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
