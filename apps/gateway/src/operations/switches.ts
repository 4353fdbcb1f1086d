import type { Principal } from '@dak/kernel';
import { auditSource } from '../audit/audit-log';
import type { GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import type { IdentityParts } from '../identity/identity-parts';
import type { SwitchState } from '@dak/contracts/api';
import { runOnce } from '../idempotency/run-once';

/** The deployment's stop switches. */
export interface Switches {
  outgoing: SwitchState;
  webhooks: SwitchState;
}

interface SwitchesRow extends Switches {
  updatedAt: Date;
}

export function readOperations(parts: IdentityParts, { organizationId }: Principal) {
  return parts.store.acrossTenants(organizationId, async (tx) => toRecord(await load(tx)));
}

/** In force once the services have heard, which is tried before the reply and until they have. */
export async function changeOperations(
  parts: IdentityParts,
  caller: IdentityCaller,
  body: { [Name in keyof Switches]?: SwitchState | undefined },
): Promise<RouteReply> {
  const reply = await runOnce(
    { store: parts.store, secret: parts.secrets.idempotency, clock: parts.clock },
    caller,
    async (tx) => {
      const row = await tx.db.operations.update({
        where: { id: true },
        data: {
          ...(body.outgoing === undefined ? {} : { outgoing: body.outgoing }),
          ...(body.webhooks === undefined ? {} : { webhooks: body.webhooks }),
          version: { increment: 1 },
          updatedAt: new Date(parts.clock()),
        },
      });
      await parts.audit.record(tx, auditSource(caller), {
        action: 'operations.updated',
        target: { type: 'operations', id: 'all' },
        outcome: 'succeeded',
        details: { changes: body },
      });
      return { status: 200, body: toRecord(row as SwitchesRow) };
    },
    { acrossTenants: true },
  );
  await parts.operationsChanged();
  return reply;
}

async function load({ db }: GatewayTransaction): Promise<SwitchesRow> {
  return (await db.operations.findUniqueOrThrow({ where: { id: true } })) as SwitchesRow;
}

function toRecord({ outgoing, webhooks, updatedAt }: SwitchesRow) {
  return { outgoing, webhooks, updated_at: updatedAt.toISOString() };
}
