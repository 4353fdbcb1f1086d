import { createHmac } from 'node:crypto';
import { DomainError } from '@dak/kernel';
import type { RouteReply } from '../http/route';
import { issueRefreshToken, refreshHash, sessionReply, sourceOf, type SessionParts } from './login';
import { readSessionCookie } from './session-cookie';
import { endSession, lockRefreshToken, type RefreshRow } from './session-store';

/** Two tabs wake up with the same cookie: the second gets the same tokens as the first. */
const GRACE_MS = 10_000;

type Outcome =
  | { kind: 'renewed'; row: RefreshRow; token: string }
  | { kind: 'reused'; row: RefreshRow }
  | { kind: 'refused' };

/**
 * Trades a refresh token for the next one. A token that comes again later than two tabs would send it was stolen: its
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
  return parts.store.asWorker(async (tx): Promise<Outcome> => {
    const now = parts.clock();
    const row = await lockRefreshToken(tx, hash);
    if (row === null || !isAlive(row, now)) return { kind: 'refused' };
    const token = successorOf(parts, presented);
    if (row.usedAt === null) {
      await tx.db.refreshToken.updateMany({
        where: { tokenHash: hash },
        data: { usedAt: new Date(now) },
      });
      await issueRefreshToken(tx, row, token, now);
    } else if (now - Date.parse(row.usedAt) > GRACE_MS) {
      return { kind: 'reused', row };
    }
    return { kind: 'renewed', row, token };
  });
}

/** Always the same one, so that the family stays one chain and a thief cannot have a branch of their own. */
function successorOf(parts: SessionParts, token: string): string {
  return createHmac('sha256', parts.secrets.refresh).update(token).digest('base64url');
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
    parts.store.inTenant(row.organizationId, async (tx) => {
      const at = new Date(parts.clock());
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
