import type { OwnSessionRecord } from '@dak/contracts/api';
import { NotFoundError, type Principal } from '@dak/kernel';
import type { Page } from '@dak/platform/paging';
import { auditSource } from '../audit/audit-log';
import type { RouteReply } from '../http/route';
import type { Session } from '../generated/prisma/client';
import type { IdentityParts } from '../identity/identity-parts';
import { pageById, type ListQuery } from '../identity/list-page';

/** The sessions of the caller that go on, oldest first. */
export function listOwnSessions(
  parts: IdentityParts,
  { organizationId, userId, credentialId }: Principal,
  query: ListQuery,
): Promise<Page<OwnSessionRecord>> {
  const where = {
    organizationId,
    userId,
    revokedAt: null,
    expiresAt: { gt: new Date(parts.clock()) },
  };
  return pageById({
    organizationId,
    list: 'sessions',
    cursorKey: parts.secrets.cursor,
    query: { ...query, user: userId },
    toItem: (row: Session) => ({
      id: row.id,
      created_at: row.createdAt.toISOString(),
      address: row.address,
      current: row.id === credentialId,
    }),
    read: ({ take, skip, afterId }) =>
      parts.store.inTenant(organizationId, async ({ db }) => ({
        total: await db.session.count({ where }),
        rows: await db.session.findMany({
          where: afterId === null ? where : { ...where, id: { gt: afterId } },
          orderBy: { id: 'asc' },
          take,
          skip,
        }),
      })),
  });
}

/** Ends one of the caller's sessions, on every replica; of others there is nothing to find. */
export async function endOwnSession(
  parts: IdentityParts,
  caller: { principal: Principal; requestId: string },
  sessionId: string,
): Promise<RouteReply> {
  const { organizationId, userId } = caller.principal;
  await parts.versions.change(organizationId, () =>
    parts.store.inTenant(organizationId, async (tx) => {
      const { count } = await tx.db.session.updateMany({
        where: { organizationId, id: sessionId, userId, revokedAt: null },
        data: { revokedAt: new Date(parts.clock()), revokedReason: 'ended_by_user' },
      });
      if (count === 0) throw new NotFoundError('session');
      await parts.audit.record(tx, auditSource(caller), {
        action: 'session.ended',
        target: { type: 'session', id: sessionId },
        outcome: 'succeeded',
      });
    }),
  );
  return { status: 204 };
}
