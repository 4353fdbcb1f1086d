import type {
  ApiKeyRecord,
  DepartmentRecord,
  OrganizationRecord,
  SwitchState,
  UserRecord,
} from '@dak/contracts/api';
import type { Prisma } from '../generated/prisma/client';

/** Columns and relations a user is read with. */
export const USER_INCLUDE = {
  memberships: { select: { departmentId: true }, orderBy: { departmentId: 'asc' } },
} satisfies Prisma.UserAccountInclude;

type UserRow = Prisma.UserAccountGetPayload<{ include: typeof USER_INCLUDE }>;

export function toUserRecord(row: UserRow): UserRecord {
  return {
    id: row.id,
    email: row.email,
    display_name: row.displayName,
    role: row.role as UserRecord['role'],
    department_ids: row.memberships.map((membership) => membership.departmentId),
    active: row.active,
    invited: row.passwordHash === null,
    last_login_at: row.lastLoginAt?.toISOString() ?? null,
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export const DEPARTMENT_INCLUDE = {
  members: { select: { userId: true }, orderBy: { userId: 'asc' } },
} satisfies Prisma.DepartmentInclude;

type DepartmentRow = Prisma.DepartmentGetPayload<{ include: typeof DEPARTMENT_INCLUDE }>;

export function toDepartmentRecord(row: DepartmentRow): DepartmentRecord {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    user_ids: row.members.map((member) => member.userId),
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function toApiKeyRecord(row: Prisma.ApiKeyGetPayload<object>): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as ApiKeyRecord['scopes'],
    prefix: row.prefix,
    expires_at: row.expiresAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    created_by: row.userId,
    parent_id: row.parentId,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  };
}

export function toOrganizationRecord(
  row: Prisma.OrganizationGetPayload<object>,
): OrganizationRecord {
  return {
    id: row.id,
    name: row.name,
    status: row.status as 'active' | 'suspended',
    time_zone: row.timeZone,
    default_from_name: row.defaultFromName,
    retention_days: row.retentionDays,
    storage_bytes: row.storageBytes === null ? null : Number(row.storageBytes),
    outgoing: row.outgoing as SwitchState,
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
