import type { UpdateUser } from '@dak/contracts/api';
import { ConflictError, ForbiddenError, NotFoundError } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { toUserRecord, USER_INCLUDE } from '../identity/records';
import { requireVersion } from '../identity/require-version';
import { requireDepartments } from './require-departments';
import { lockAdmins } from './user-store';

type Body = UpdateUser;

/** Changes a person; their keys and sessions follow with the next request. */
export function updateUser(
  parts: IdentityParts,
  caller: IdentityCaller,
  userId: string,
  body: Body,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const admins = await lockAdmins(tx, organizationId);
    const before = await tx.db.userAccount.findFirst({
      where: { organizationId, id: userId },
      include: USER_INCLUDE,
    });
    if (before === null) throw new NotFoundError('user');
    requireVersion('user', before.version, caller.ifMatch);
    const changes = changesOf(toUserRecord(before), body);
    checkChanges(changes, before, admins, caller);
    if (Object.keys(changes).length === 0) {
      return { status: 200, body: toUserRecord(before), version: before.version };
    }
    await requireDepartments(tx, organizationId, body.department_ids ?? []);
    const now = new Date(parts.clock());
    const row = await tx.db.userAccount.update({
      where: { organizationId_id: { organizationId, id: userId } },
      data: {
        ...(changes.display_name === undefined ? {} : { displayName: changes.display_name }),
        ...(changes.role === undefined ? {} : { role: changes.role }),
        ...(changes.active === undefined ? {} : { active: changes.active }),
        ...(changes.department_ids === undefined
          ? {}
          : {
              memberships: {
                deleteMany: {},
                create: [...new Set(changes.department_ids)].map((departmentId) => ({
                  departmentId,
                })),
              },
            }),
        version: { increment: 1 },
        updatedAt: now,
      },
      include: USER_INCLUDE,
    });
    // Afterwards: a login that was under way has begun its session by now, or begins none.
    if (changes.active === false) await endSessions(tx, organizationId, userId, now);
    await parts.audit.record(tx, auditSource(caller), {
      action: 'user.updated',
      target: { type: 'user', id: userId },
      outcome: 'succeeded',
      details: { changes },
    });
    return { status: 200, body: toUserRecord(row), version: row.version };
  });
}

function changesOf(before: ReturnType<typeof toUserRecord>, body: Body): Body {
  const changes: Body = {};
  if (body.display_name !== undefined && body.display_name !== before.display_name) {
    changes.display_name = body.display_name;
  }
  if (body.role !== undefined && body.role !== before.role) changes.role = body.role;
  if (body.active !== undefined && body.active !== before.active) changes.active = body.active;
  if (body.department_ids !== undefined) {
    const wanted = [...new Set(body.department_ids)].sort();
    if (wanted.join() !== before.department_ids.join()) changes.department_ids = wanted;
  }
  return changes;
}

function checkChanges(
  changes: Body,
  before: { id: string; role: string },
  admins: ReadonlySet<string>,
  caller: IdentityCaller,
): void {
  if (before.role === 'superadmin') {
    if (changes.role !== undefined) {
      throw new ConflictError('role of a superadmin cannot be changed.', 'superadmin_role');
    }
    if (caller.principal.role !== 'superadmin') {
      throw new ForbiddenError('A superadmin is changed by a superadmin only.', 'missing_role');
    }
  }
  const losesAdmin = changes.role === 'user' || changes.active === false;
  if (losesAdmin && admins.has(before.id) && admins.size === 1) {
    throw new ConflictError(
      'This is the last active admin of the organization: make another user admin first.',
      'last_admin',
    );
  }
}

async function endSessions(
  tx: GatewayTransaction,
  organizationId: string,
  userId: string,
  now: Date,
): Promise<void> {
  await tx.db.session.updateMany({
    where: { organizationId, userId, revokedAt: null },
    data: { revokedAt: now, revokedReason: 'user_deactivated' },
  });
}
