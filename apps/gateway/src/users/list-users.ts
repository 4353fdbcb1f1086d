import { NotFoundError, type Principal } from '@dak/kernel';
import type { Page } from '@dak/platform/paging';
import { pageById, type ListQuery } from '../identity/list-page';
import type { IdentityParts } from '../identity/identity-parts';
import { toUserRecord, USER_INCLUDE } from '../identity/records';

export interface UserQuery extends ListQuery {
  q?: string | undefined;
  role?: 'user' | 'admin' | 'superadmin' | undefined;
  active?: boolean | undefined;
}

export function listUsers(
  parts: IdentityParts,
  { organizationId }: Principal,
  query: UserQuery,
): Promise<Page<ReturnType<typeof toUserRecord>>> {
  const where = {
    organizationId,
    ...(query.role === undefined ? {} : { role: query.role }),
    ...(query.active === undefined ? {} : { active: query.active }),
    ...(query.q === undefined
      ? {}
      : {
          OR: [
            { email: { contains: query.q, mode: 'insensitive' as const } },
            { displayName: { contains: query.q, mode: 'insensitive' as const } },
          ],
        }),
  };
  return pageById({
    organizationId,
    list: 'users',
    cursorKey: parts.secrets.cursor,
    query: { ...query },
    toItem: toUserRecord,
    read: ({ take, skip, afterId }) =>
      parts.store.inTenant(organizationId, async ({ db }) => ({
        total: await db.userAccount.count({ where }),
        rows: await db.userAccount.findMany({
          where: afterId === null ? where : { AND: [where, { id: { gt: afterId } }] },
          include: USER_INCLUDE,
          orderBy: { id: 'asc' },
          take,
          skip,
        }),
      })),
  });
}

export async function getUser(
  parts: IdentityParts,
  { organizationId }: Principal,
  userId: string,
): Promise<ReturnType<typeof toUserRecord>> {
  const row = await parts.store.inTenant(organizationId, ({ db }) =>
    db.userAccount.findFirst({ where: { organizationId, id: userId }, include: USER_INCLUDE }),
  );
  if (row === null) throw new NotFoundError('user');
  return toUserRecord(row);
}
