import { z } from 'zod';
import { ROLES, SCOPES } from '@dak/kernel';
import type { Prisma } from '../generated/prisma/client';

const timestamp = z.iso.datetime();

/** State of something that can be held and resumed. */
export const SWITCH_STATES = ['run', 'hold'] as const;
export type SwitchState = (typeof SWITCH_STATES)[number];

export const UserRecord = z
  .object({
    id: z.uuid(),
    email: z.string(),
    display_name: z.string(),
    role: z.enum(ROLES),
    department_ids: z.array(z.uuid()),
    active: z.boolean(),
    invited: z.boolean().meta({ description: 'True until the person has set a password' }),
    last_login_at: timestamp.nullable(),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'User' });

export const DepartmentRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    user_ids: z.array(z.uuid()),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Department' });

export const ApiKeyRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    prefix: z.string().meta({ description: 'Its first characters, to recognize it by' }),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    created_by: z.uuid(),
    parent_id: z.uuid().nullable().meta({ description: 'The key with which it was made' }),
    last_used_at: timestamp.nullable().meta({ description: 'Exact to a minute' }),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

export const OrganizationRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    status: z.enum(['active', 'suspended']),
    time_zone: z.string(),
    default_from_name: z.string().nullable(),
    retention_days: z.int().nullable(),
    storage_bytes: z
      .int()
      .nullable()
      .meta({ description: 'Mail and files beyond it are refused; null = no limit' }),
    outgoing: z.enum(SWITCH_STATES).meta({ description: 'hold: its outgoing mail waits' }),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Organization' });

/** Columns and relations a user is read with. */
export const USER_INCLUDE = {
  memberships: { select: { departmentId: true }, orderBy: { departmentId: 'asc' } },
} satisfies Prisma.UserAccountInclude;

type UserRow = Prisma.UserAccountGetPayload<{ include: typeof USER_INCLUDE }>;

export function toUserRecord(row: UserRow): z.infer<typeof UserRecord> {
  return {
    id: row.id,
    email: row.email,
    display_name: row.displayName,
    role: row.role as z.infer<typeof UserRecord>['role'],
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

export function toDepartmentRecord(row: DepartmentRow): z.infer<typeof DepartmentRecord> {
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

export function toApiKeyRecord(row: Prisma.ApiKeyGetPayload<object>): z.infer<typeof ApiKeyRecord> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as z.infer<typeof ApiKeyRecord>['scopes'],
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
): z.infer<typeof OrganizationRecord> {
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
