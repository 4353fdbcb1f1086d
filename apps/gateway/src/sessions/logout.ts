import type { RouteReply } from '../http/route';
import { refreshHash, sourceOf, type SessionParts } from './login';
import { endedCookie, readSessionCookie } from './session-cookie';
import { endSession, lockRefreshToken } from './session-store';

/** Ends the session of the cookie, access tokens included; without one there is nothing to end. */
export async function logout(
  parts: SessionParts,
  caller: { requestId: string; headers: { cookie?: string | undefined } },
): Promise<RouteReply> {
  const presented = readSessionCookie(caller.headers.cookie);
  const row =
    presented === null
      ? null
      : await parts.store.database.asWorker((tx) => lockRefreshToken(tx, refreshHash(presented)));
  if (row !== null) {
    await parts.versions.change(row.organizationId, () =>
      parts.store.inTenant(row.organizationId, async (tx) => {
        const at = new Date(parts.clock());
        if (!(await endSession(tx, row, at, 'logout'))) return;
        await parts.audit.record(tx, sourceOf(row, caller.requestId), {
          action: 'session.logout',
          target: { type: 'session', id: row.sessionId },
          outcome: 'succeeded',
        });
      }),
    );
  }
  return { status: 204, headers: { 'Set-Cookie': endedCookie(parts.isHttps) } };
}
