import type { CreateDepartment, UpdateDepartment } from '@dak/contracts/api';
import { ConflictError, InvalidError, NotFoundError, uuidv7 } from '@dak/kernel';
import { isUniqueViolation } from '@dak/platform/postgres';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { DEPARTMENT_INCLUDE, toDepartmentRecord } from '../identity/records';
import { requireVersion } from '../identity/require-version';
import { lockDepartment, lockUsers } from './department-store';

export function createDepartment(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: CreateDepartment,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const row = await refuseDuplicate(
      tx.db.department.create({
        data: { organizationId, id: uuidv7(), name: body.name, description: body.description },
        include: DEPARTMENT_INCLUDE,
      }),
    );
    await parts.audit.record(tx, auditSource(caller), {
      action: 'department.created',
      target: { type: 'department', id: row.id },
      outcome: 'succeeded',
      details: { name: row.name },
    });
    return {
      status: 201,
      body: toDepartmentRecord(row),
      version: row.version,
      headers: { Location: `/api/v1/departments/${row.id}` },
    };
  });
}

export function updateDepartment(
  parts: IdentityParts,
  caller: IdentityCaller,
  id: string,
  body: UpdateDepartment,
): Promise<RouteReply> {
  return changeExisting(parts, caller, id, async (tx, key) => {
    const row = await refuseDuplicate(
      tx.db.department.update({
        where: { organizationId_id: key },
        data: {
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.description === undefined ? {} : { description: body.description }),
          version: { increment: 1 },
          updatedAt: new Date(parts.clock()),
        },
        include: DEPARTMENT_INCLUDE,
      }),
    );
    await parts.audit.record(tx, auditSource(caller), {
      action: 'department.updated',
      target: { type: 'department', id },
      outcome: 'succeeded',
      details: { changes: body },
    });
    return { status: 200, body: toDepartmentRecord(row), version: row.version };
  });
}

/** Replaces the members; who leaves loses sight of the department's conversations with the next request. */
export function putDepartmentMembers(
  parts: IdentityParts,
  caller: IdentityCaller,
  id: string,
  userIds: readonly string[],
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  const wanted = [...new Set(userIds)];
  return changeExisting(parts, caller, id, async (tx, key) => {
    await lockUsers(tx, organizationId, id, wanted);
    await requireUsers(tx, organizationId, wanted);
    const row = await tx.db.department.update({
      where: { organizationId_id: key },
      data: {
        members: { deleteMany: {}, create: wanted.map((userId) => ({ userId })) },
        version: { increment: 1 },
        updatedAt: new Date(parts.clock()),
      },
      include: DEPARTMENT_INCLUDE,
    });
    await parts.audit.record(tx, auditSource(caller), {
      action: 'department.members_changed',
      target: { type: 'department', id },
      outcome: 'succeeded',
      details: { user_ids: wanted },
    });
    return { status: 200, body: toDepartmentRecord(row), version: row.version };
  });
}

export function deleteDepartment(
  parts: IdentityParts,
  caller: IdentityCaller,
  id: string,
): Promise<RouteReply> {
  return changeExisting(parts, caller, id, async (tx, key) => {
    await lockUsers(tx, key.organizationId, id, []);
    const row = await tx.db.department.delete({ where: { organizationId_id: key } });
    await parts.audit.record(tx, auditSource(caller), {
      action: 'department.deleted',
      target: { type: 'department', id },
      outcome: 'succeeded',
      details: { name: row.name },
    });
    return { status: 204 };
  });
}

function changeExisting(
  parts: IdentityParts,
  caller: IdentityCaller,
  id: string,
  work: (
    tx: GatewayTransaction,
    key: { organizationId: string; id: string },
  ) => Promise<RouteReply>,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const version = await lockDepartment(tx, organizationId, id);
    if (version === null) throw new NotFoundError('department');
    requireVersion('department', version, caller.ifMatch);
    return work(tx, { organizationId, id });
  });
}

async function requireUsers(
  tx: GatewayTransaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<void> {
  const found = await tx.db.userAccount.findMany({
    where: { organizationId, id: { in: [...userIds] } },
    select: { id: true },
  });
  const known = new Set(found.map((user) => user.id));
  const index = userIds.findIndex((userId) => !known.has(userId));
  if (index < 0) return;
  throw new InvalidError(
    `user_ids[${index}] is not a user of this organization: GET /settings/users lists them.`,
  );
}

async function refuseDuplicate<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ConflictError(
      'name belongs to another department of the organization: use another one.',
      'duplicate_name',
    );
  }
}
