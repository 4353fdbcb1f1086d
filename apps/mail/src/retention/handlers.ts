import type { RetentionServiceService } from '@dak/contracts/mail';
import { InvalidError, isUuid, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import type { TenantHandlers } from '@dak/platform/tenant-directory';
import { forgetRemoved, selectRemoved } from './expired-store';
import { removeExpired } from './remove-expired';
import { sweepBlobs } from './sweep-blobs';

const MOST_REMOVED = 1_000;

export interface RetentionDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  tenants: Pick<TenantHandlers, 'eraseOrganization'>;
}

/** Handlers for the gateway's retention requests; only the gateway may call them. */
export function createRetentionHandlers(
  deps: RetentionDeps,
): Handlers<typeof RetentionServiceService, CallContext> {
  const { database, blobs, clock, tenants } = deps;
  return {
    async removeExpired({ organizationId, before, budgetMs, isGentle }) {
      requireUuid(organizationId);
      return removeExpired(database, {
        organizationId,
        before: before === undefined ? null : Date.parse(before),
        budgetMs,
        isGentle,
        now: clock(),
      });
    },
    async listRemoved({ organizationId }) {
      requireUuid(organizationId);
      const rows = await database.inTenant(organizationId, (tx) =>
        selectRemoved(tx, organizationId, MOST_REMOVED),
      );
      return {
        removed: rows.map((row) => ({
          id: row.id,
          conversationId: row.conversation_id,
          messageId: row.message_id ?? undefined,
        })),
      };
    },
    async acknowledgeRemoved({ organizationId, ids }) {
      requireUuid(organizationId);
      await database.inTenant(organizationId, (tx) => forgetRemoved(tx, organizationId, ids));
      return {};
    },
    async sweepBlobs({ organizationId, whole, forgetJournals }) {
      requireUuid(organizationId);
      if (forgetJournals) await blobs.forgetJournals();
      return sweepBlobs({ database, blobs }, { organizationId, isWhole: whole, now: clock() });
    },
    // For gateways of the version before `dak.tenant.v1`.
    eraseOrganization: (request, context) => tenants.eraseOrganization(request, context),
  };
}

function requireUuid(value: string): void {
  if (!isUuid(value)) throw new InvalidError('organization_id must be a UUID.');
}
