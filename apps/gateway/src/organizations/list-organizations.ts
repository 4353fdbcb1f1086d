import { NotFoundError, type Principal } from '@dak/kernel';
import type { Page } from '@dak/platform/paging';
import type { IdentityParts } from '../identity/identity-parts';
import { pageById, type ListQuery } from '../identity/list-page';
import { toOrganizationRecord } from '../identity/records';

type OrganizationRecord = ReturnType<typeof toOrganizationRecord>;

/** All tenants; for superadmins only. */
export function listOrganizations(
  parts: IdentityParts,
  { organizationId }: Principal,
  query: ListQuery & { status?: 'active' | 'suspended' | undefined },
): Promise<Page<OrganizationRecord>> {
  const where = query.status === undefined ? {} : { status: query.status };
  return pageById({
    organizationId,
    list: 'organizations',
    cursorKey: parts.secrets.cursor,
    query: { ...query },
    toItem: toOrganizationRecord,
    read: ({ take, skip, afterId }) =>
      parts.store.acrossTenants(organizationId, async ({ db }) => ({
        total: await db.organization.count({ where }),
        rows: await db.organization.findMany({
          where: afterId === null ? where : { ...where, id: { gt: afterId } },
          orderBy: { id: 'asc' },
          take,
          skip,
        }),
      })),
  });
}

/** One tenant, for superadmins. */
export async function getAnyOrganization(
  parts: IdentityParts,
  { organizationId }: Principal,
  id: string,
): Promise<OrganizationRecord> {
  const row = await parts.store.acrossTenants(organizationId, ({ db }) =>
    db.organization.findUnique({ where: { id } }),
  );
  if (row === null) throw new NotFoundError('organization');
  return toOrganizationRecord(row);
}

/** The caller's own. */
export async function getOwnOrganization(
  parts: IdentityParts,
  { organizationId }: Principal,
): Promise<OrganizationRecord> {
  const row = await parts.store.inTenant(organizationId, ({ db }) =>
    db.organization.findUniqueOrThrow({ where: { id: organizationId } }),
  );
  return toOrganizationRecord(row);
}
