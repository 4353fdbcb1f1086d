import { NotFoundError, type Principal } from '@dak/kernel';
import type { Page } from '@dak/platform/paging';
import type { IdentityParts } from '../identity/identity-parts';
import { pageById, type ListQuery } from '../identity/list-page';
import { toApiKeyRecord } from '../identity/records';

/** All keys of the organization, revoked and expired ones included. */
export async function listApiKeys(
  parts: IdentityParts,
  { organizationId }: Principal,
  query: ListQuery,
): Promise<Page<ReturnType<typeof toApiKeyRecord>>> {
  await parts.lastUsed.flush();
  const where = { organizationId };
  return pageById({
    organizationId,
    list: 'api-keys',
    cursorKey: parts.secrets.cursor,
    query: { ...query },
    toItem: toApiKeyRecord,
    read: ({ take, skip, afterId }) =>
      parts.store.inTenant(organizationId, async ({ db }) => ({
        total: await db.apiKey.count({ where }),
        rows: await db.apiKey.findMany({
          where: afterId === null ? where : { ...where, id: { gt: afterId } },
          orderBy: { id: 'asc' },
          take,
          skip,
        }),
      })),
  });
}

export async function getApiKey(
  parts: IdentityParts,
  { organizationId }: Principal,
  id: string,
): Promise<ReturnType<typeof toApiKeyRecord>> {
  await parts.lastUsed.flush();
  const row = await parts.store.inTenant(organizationId, ({ db }) =>
    db.apiKey.findFirst({ where: { organizationId, id } }),
  );
  if (row === null) throw new NotFoundError('API key');
  return toApiKeyRecord(row);
}
