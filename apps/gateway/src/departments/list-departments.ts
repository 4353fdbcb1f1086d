import { NotFoundError, type Principal } from '@dak/kernel';
import type { Page } from '@dak/platform/paging';
import type { IdentityParts } from '../identity/identity-parts';
import { pageById, type ListQuery } from '../identity/list-page';
import { DEPARTMENT_INCLUDE, toDepartmentRecord } from '../identity/records';

export function listDepartments(
  parts: IdentityParts,
  { organizationId }: Principal,
  query: ListQuery,
): Promise<Page<ReturnType<typeof toDepartmentRecord>>> {
  const where = { organizationId };
  return pageById({
    organizationId,
    list: 'departments',
    cursorKey: parts.secrets.cursor,
    query: { ...query },
    toItem: toDepartmentRecord,
    read: ({ take, skip, afterId }) =>
      parts.store.inTenant(organizationId, async ({ db }) => ({
        total: await db.department.count({ where }),
        rows: await db.department.findMany({
          where: afterId === null ? where : { ...where, id: { gt: afterId } },
          include: DEPARTMENT_INCLUDE,
          orderBy: { id: 'asc' },
          take,
          skip,
        }),
      })),
  });
}

export async function getDepartment(
  parts: IdentityParts,
  { organizationId }: Principal,
  id: string,
): Promise<ReturnType<typeof toDepartmentRecord>> {
  const row = await parts.store.inTenant(organizationId, ({ db }) =>
    db.department.findFirst({ where: { organizationId, id }, include: DEPARTMENT_INCLUDE }),
  );
  if (row === null) throw new NotFoundError('department');
  return toDepartmentRecord(row);
}
