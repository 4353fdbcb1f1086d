import type { AdministerOrganization, UpdateOrganization } from '@dak/contracts/api';
import { NotFoundError, ConflictError, type Principal } from '@dak/kernel';
import { actorOf } from '../audit/audit-entry';
import { auditSource } from '../audit/audit-log';
import { missingScope } from '../http';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import { changeIdentity, type IdentityParts } from '../identity/identity-parts';
import { toOrganizationRecord } from '../identity/records';
import { requireVersion } from '../identity/require-version';
import { runOnce } from '../idempotency/run-once';
import { selectErasure } from '../retention/erasure-store';

/** The organization's own settings. */
export async function updateOrganization(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: UpdateOrganization,
): Promise<RouteReply> {
  const { organizationId } = caller.principal;
  const reply = await changeIdentity(parts, caller, async (tx) => {
    const before = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } });
    requireVersion('organization', before.version, caller.ifMatch);
    requireMayShorten(caller.principal, before.retentionDays, body.retention_days);
    const row = await tx.db.organization.update({
      where: { id: organizationId },
      data: {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.time_zone === undefined ? {} : { timeZone: body.time_zone }),
        ...(body.default_from_name === undefined
          ? {}
          : { defaultFromName: body.default_from_name }),
        ...(body.retention_days === undefined ? {} : { retentionDays: body.retention_days }),
        version: { increment: 1 },
        updatedAt: new Date(parts.clock()),
      },
    });
    await parts.audit.record(tx, auditSource(caller), {
      action: 'organization.updated',
      target: { type: 'organization', id: organizationId },
      outcome: 'succeeded',
      details: { changes: body },
    });
    return { status: 200, body: toOrganizationRecord(row), version: row.version };
  });
  await parts.organizationChanged(organizationId);
  return reply;
}

/**
 * A shorter retention permanently removes mail within the hour, so it needs more than the right to change settings.
 * @param days null = forever
 */
function requireMayShorten(
  { scopes }: Principal,
  before: number | null,
  days: number | null | undefined,
): void {
  const isShorter = (days ?? Infinity) < (before ?? Infinity);
  if (days !== undefined && isShorter && !scopes.includes('mail.write')) {
    throw missingScope(['mail.write']);
  }
}

/** A superadmin renames, suspends or reactivates a tenant; suspended, all its credentials end with their next request. */
export async function administerOrganization(
  parts: IdentityParts,
  caller: IdentityCaller,
  organizationId: string,
  body: AdministerOrganization,
): Promise<RouteReply> {
  if (organizationId === caller.principal.organizationId && body.status === 'suspended') {
    throw new ConflictError(
      'This is your own organization: suspending it would lock you out.',
      'own_organization',
    );
  }
  const reply = await parts.versions.change(organizationId, () =>
    runOnce(
      { store: parts.store, secret: parts.secrets.idempotency, clock: parts.clock },
      caller,
      async (tx) => {
        const before = await tx.db.organization.findUnique({ where: { id: organizationId } });
        if (before === null) throw new NotFoundError('organization');
        requireVersion('organization', before.version, caller.ifMatch);
        const row = await tx.db.organization.update({
          where: { id: organizationId },
          data: {
            ...(body.name === undefined ? {} : { name: body.name }),
            ...(body.status === undefined ? {} : { status: body.status }),
            ...(body.storage_bytes === undefined ? {} : { storageBytes: body.storage_bytes }),
            ...(body.outgoing === undefined ? {} : { outgoing: body.outgoing }),
            version: { increment: 1 },
            updatedAt: new Date(parts.clock()),
          },
        });
        // Checked under the row lock, which an erasure request takes as well.
        if (body.status === 'active' && (await selectErasure(tx, organizationId)) !== null) {
          throw new ConflictError(
            'The organization is being erased: what is gone does not come back.',
            'organization_erased',
          );
        }
        const note = {
          action: 'organization.administered',
          target: { type: 'organization', id: organizationId },
          outcome: 'succeeded',
          details: { changes: body },
        } as const;
        await parts.audit.record(tx, auditSource(caller), note);
        if (organizationId !== caller.principal.organizationId) {
          await tx.query(`select set_config('dak.organization_id', $1, true)`, [organizationId]);
          const actor = actorOf(caller.principal);
          await parts.audit.record(
            tx,
            { organizationId, actor, requestId: caller.requestId },
            note,
          );
        }
        return { status: 200, body: toOrganizationRecord(row), version: row.version };
      },
      { acrossTenants: true },
    ),
  );
  await parts.organizationChanged(organizationId);
  return reply;
}
