import type { Log } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import type { TenantDirectory } from '../announcements/tenant-directories';
import { upkeepCall, type RemovedMail } from '../backend/keepers';
import { forgetFeed } from '../event-stream/feed-store';

/** What keeps copies of what events say. */
export interface EventKeeper {
  /** @param before milliseconds since the epoch; null = events of any age stay */
  forget(
    organizationId: string,
    before: number | null,
    removed: readonly RemovedMail[],
  ): Promise<{ more: boolean }>;
  /** Reads much for it: asked once a day. */
  readonly isSlow?: boolean;
}

/** Copies that a service keeps. */
export function serviceKeeper(tenants: TenantDirectory): EventKeeper {
  return {
    forget: (organizationId, before, removed) =>
      tenants.forget(
        {
          organizationId,
          ...(before === null ? {} : { before: new Date(before).toISOString() }),
          removed: removed.map(({ conversationId, messageId }) => ({
            conversationId,
            ...(messageId === null ? {} : { messageId }),
          })),
        },
        upkeepCall(),
      ),
  };
}

/** Events that streams show. */
export function feedKeeper(database: Database): EventKeeper {
  return {
    async forget(organizationId, before, removed) {
      await database.inTenant(organizationId, (tx) =>
        forgetFeed(tx, organizationId, before, removed),
      );
      return { more: false };
    },
  };
}

/** Events in the log; those of a day may have to be read from one end to the other. */
export function logKeeper(log: Log): EventKeeper {
  return {
    isSlow: true,
    async forget(organizationId, before, removed) {
      if (before !== null || removed.length > 0) {
        await log.forget({ organizationId, before, about: removed });
      }
      return { more: false };
    },
  };
}
