import { setTimeout as delay } from 'node:timers/promises';
import type { RetentionServiceService } from '@dak/contracts/mail';
import { InvalidError, isUuid, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { eraseTenant, type Database } from '@dak/platform/postgres';
import { noteErased } from '../mailboxes/organizations/erased-store';
import { forgetRemoved, selectRemoved } from './expired-store';
import { removeExpired } from './remove-expired';
import { sweepBlobs, unlessBackedUp } from './sweep-blobs';

const ERASE_BUDGET_MS = 5_000;
/** Before it is looked again whether a backup still copies blobs. */
const BACKUP_WAIT_MS = 2_000;
const MOST_REMOVED = 1_000;

export interface RetentionDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
}

/** What the gateway asks for when an organization keeps something no longer; registered for the gateway alone. */
export function createRetentionHandlers(
  deps: RetentionDeps,
): Handlers<typeof RetentionServiceService, CallContext> {
  const { database, blobs, clock } = deps;
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
    async eraseOrganization({ organizationId }) {
      requireUuid(organizationId);
      await database.inTenant(organizationId, (tx) => noteErased(tx, organizationId));
      const { rows, more } = await eraseTenant(database, {
        organizationId,
        budgetMs: ERASE_BUDGET_MS,
      });
      if (more) return { rows, more, blobs: 0, bytes: 0 };
      let removed = { blobs: 0, bytes: 0 };
      const isFree = await unlessBackedUp(database, async () => {
        removed = await blobs.removeOrganization(organizationId);
      });
      if (!isFree) await delay(BACKUP_WAIT_MS);
      return { rows, more: !isFree, ...removed };
    },
  };
}

function requireUuid(value: string): void {
  if (!isUuid(value)) throw new InvalidError('organization_id must be a UUID.');
}
