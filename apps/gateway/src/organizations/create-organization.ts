import type { CreateOrganization } from '@dak/contracts/api';
import { uuidv7 } from '@dak/kernel';
import { actorOf, type AuditActor } from '../audit/audit-entry';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import type { IdentityParts } from '../identity/identity-parts';
import { toOrganizationRecord } from '../identity/records';
import { runOnce } from '../idempotency/run-once';
import { createInvite, NO_INVITE } from '../users/create-invite';
import { insertUser } from '../users/create-user';

/** A new tenant with its first admin. */
export async function createOrganization(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: CreateOrganization,
): Promise<RouteReply> {
  const { email, password } = body.admin;
  const passwordHash = password === undefined ? null : await parts.passwords.hash(email, password);
  const id = uuidv7();
  const claim = await claimDomains(parts, caller, id, body.domains ?? []);
  // If this fails, the mail service frees them once another organization claims them.
  const release = async (): Promise<void> => {
    if (claim.domains.length === 0) return;
    await parts.putDomains(id, [], caller, { isClaim: true }).catch(() => undefined);
  };
  const reply = await runOnce(
    { store: parts.store, secret: parts.secrets.idempotency, clock: parts.clock },
    caller,
    async (tx) => {
      if (claim.error !== null) throw claim.error;
      const organization = await insertOrganization(tx, {
        id,
        name: body.name,
        timeZone: body.time_zone ?? 'UTC',
        domains: claim.domains,
      });
      const admin = await insertUser(tx, organization.id, {
        email: body.admin.email,
        displayName: body.admin.display_name,
        role: 'admin',
        departmentIds: [],
        passwordHash,
      });
      const invite =
        passwordHash === null ? await createInvite(parts, tx, organization.id, admin.id) : null;
      const details = { name: body.name, admin_id: admin.id, domains: claim.domains };
      await parts.audit.record(tx, auditSource(caller), {
        action: 'organization.created',
        target: { type: 'organization', id: organization.id },
        outcome: 'succeeded',
        details,
      });
      await noteInNewOrganization(parts, tx, organization.id, caller, details);
      return {
        status: 201,
        version: organization.version,
        body: {
          ...toOrganizationRecord(organization),
          domains: claim.domains,
          admin: {
            id: admin.id,
            email: admin.email,
            display_name: admin.display_name,
            ...(invite ?? NO_INVITE),
          },
        },
      };
    },
    { acrossTenants: true },
  ).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (reply.replayed === true) await release();
  else await parts.organizationChanged(id);
  return reply;
}

interface DomainClaim {
  readonly domains: string[];
  /** Why they are not available; used unless the answer was stored before. */
  readonly error: Error | null;
}

/**
 * The domains go to the organization before there is one, so that two at the same time cannot both get
 * them; the mail service hears of the organization afterwards.
 */
async function claimDomains(
  { putDomains }: IdentityParts,
  caller: IdentityCaller,
  organizationId: string,
  names: readonly string[],
): Promise<DomainClaim> {
  if (names.length === 0) return { domains: [], error: null };
  try {
    const domains = await putDomains(organizationId, names, caller, { isClaim: true });
    return { domains: [...domains], error: null };
  } catch (error) {
    return { domains: [], error: error instanceof Error ? error : new Error(String(error)) };
  }
}

export function insertOrganization(
  tx: GatewayTransaction,
  organization: { id?: string; name: string; timeZone: string; domains: readonly string[] },
) {
  const { id = uuidv7(), name, timeZone, domains } = organization;
  return tx.db.organization.create({ data: { id, name, timeZone, firstDomains: [...domains] } });
}

/** The chain of another tenant is written under that tenant. */
export async function noteInNewOrganization(
  parts: Pick<IdentityParts, 'audit'>,
  tx: GatewayTransaction,
  organizationId: string,
  caller: { principal: IdentityCaller['principal'] | null; requestId: string },
  details: Readonly<Record<string, unknown>>,
  actor: AuditActor = actorOf(caller.principal),
): Promise<void> {
  await tx.query(`select set_config('dak.organization_id', $1, true)`, [organizationId]);
  await parts.audit.record(
    tx,
    { organizationId, actor, requestId: caller.requestId },
    {
      action: 'organization.created',
      target: { type: 'organization', id: organizationId },
      outcome: 'succeeded',
      details,
    },
  );
}
