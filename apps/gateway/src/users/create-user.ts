import type { CreateUser } from '@dak/contracts/api';
import { ConflictError, uuidv7 } from '@dak/kernel';
import { isUniqueViolation } from '@dak/platform/postgres';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { toUserRecord, USER_INCLUDE } from '../identity/records';
import type { IdentityCaller } from '../identity/identity-caller';
import { requireDepartments } from './require-departments';
import { createInvite, NO_INVITE } from './create-invite';

export interface NewUser {
  email: string;
  displayName: string;
  role: 'user' | 'admin' | 'superadmin';
  departmentIds: readonly string[];
  /** Null: they set it themselves with an invite. */
  passwordHash: string | null;
}

/** Adds a person to the caller's organization; without a password a session gets a one-use invite token. */
export async function createUser(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: CreateUser,
): Promise<RouteReply> {
  const passwordHash =
    body.password === undefined ? null : await parts.passwords.hash(body.email, body.password);
  const { organizationId } = caller.principal;
  return changeIdentity(parts, caller, async (tx) => {
    const user = await insertUser(tx, organizationId, {
      email: body.email,
      displayName: body.display_name,
      role: body.role,
      departmentIds: body.department_ids,
      passwordHash,
    });
    // The token's holder can become that user, which a key must not.
    const isInvited = passwordHash === null && caller.principal.type === 'session';
    const invite = isInvited ? await createInvite(parts, tx, organizationId, user.id) : null;
    await parts.audit.record(tx, auditSource(caller), {
      action: 'user.created',
      target: { type: 'user', id: user.id },
      outcome: 'succeeded',
      details: { email: user.email, role: user.role, department_ids: user.department_ids },
    });
    return {
      status: 201,
      body: { ...user, ...(invite ?? NO_INVITE) },
      version: user.version,
      headers: { Location: `/api/v1/settings/users/${user.id}` },
    };
  });
}

/**
 * An address may have users in other organizations as well: this is not disclosed here.
 * @throws ConflictError when the address belongs to a user of this organization already
 */
export async function insertUser(tx: GatewayTransaction, organizationId: string, user: NewUser) {
  await requireDepartments(tx, organizationId, user.departmentIds);
  try {
    const row = await tx.db.userAccount.create({
      data: {
        organizationId,
        id: uuidv7(),
        email: user.email,
        displayName: user.displayName,
        role: user.role,
        passwordHash: user.passwordHash,
        memberships: {
          create: [...new Set(user.departmentIds)].map((departmentId) => ({ departmentId })),
        },
      },
      include: USER_INCLUDE,
    });
    return toUserRecord(row);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ConflictError(
      'email belongs to a user of this organization already: use another address.',
      'duplicate_email',
    );
  }
}
