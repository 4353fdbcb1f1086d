import { DomainError } from '@dak/kernel';
import type { RouteReply } from '../http/route';
import { issueRefreshToken, refreshHash, sessionReply, sourceOf, type SessionParts } from './login';
import { readSessionCookie } from './session-cookie';
import { endSession, lockRefreshToken, useRefreshToken, type RefreshRow } from './session-store';

type Outcome =
  | { kind: 'renewed'; row: RefreshRow; token: string }
  | { kind: 'reused'; row: RefreshRow }
  | { kind: 'refused' };

/**
 * Trades a refresh token for the next one. A token that comes a second time was stolen or raced: its
 * whole family ends (RFC 9700 §4.14.2).
 */
export async function refresh(
  parts: SessionParts,
  caller: { requestId: string; headers: { cookie?: string | undefined } },
): Promise<RouteReply> {
  const presented = readSessionCookie(caller.headers.cookie);
  if (presented === null) throw refused();
  const outcome = await rotate(parts, presented);
  if (outcome.kind === 'refused') throw refused();
  const { row } = outcome;
  if (outcome.kind === 'reused') {
    await endFamily(parts, row, caller.requestId);
    throw refused();
  }
  return sessionReply(
    parts,
    { organizationId: row.organizationId, userId: row.userId, sessionId: row.sessionId },
    outcome.token,
  );
}

function rotate(parts: SessionParts, presented: string): Promise<Outcome> {
  const hash = refreshHash(presented);
  return parts.store.database.asWorker(async (tx): Promise<Outcome> => {
    const now = parts.clock();
    const row = await lockRefreshToken(tx, hash);
    if (row === null || !isAlive(row, now)) return { kind: 'refused' };
    if (row.usedAt !== null) return { kind: 'reused', row };
    await useRefreshToken(tx, hash, new Date(now).toISOString());
    return { kind: 'renewed', row, token: await issueRefreshToken(tx, row, now) };
  });
}

function isAlive(row: RefreshRow, now: number): boolean {
  return (
    row.revokedAt === null &&
    Date.parse(row.expiresAt) > now &&
    row.active &&
    row.organizationStatus === 'active'
  );
}

function endFamily(parts: SessionParts, row: RefreshRow, requestId: string): Promise<void> {
  return parts.versions.change(row.organizationId, () =>
    parts.store.database.inTenant(row.organizationId, async (tx) => {
      const at = new Date(parts.clock()).toISOString();
      if (!(await endSession(tx, row, at, 'refresh_token_reused'))) return;
      await parts.audit.record(tx, sourceOf(row, requestId), {
        action: 'session.refresh',
        target: { type: 'session', id: row.sessionId },
        outcome: 'refused',
        details: { reason: 'refresh_token_reused' },
      });
    }),
  );
}

function refused(): DomainError {
  return new DomainError(
    'unauthenticated',
    'invalid_refresh_token',
    'The refresh cookie is missing, used, expired or revoked: sign in with POST /api/v1/auth/login.',
  );
}
