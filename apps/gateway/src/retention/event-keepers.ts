import type { Log } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import type { EventKeeper } from '../backend/keepers';
import { forgetFeed } from '../event-stream/feed-store';

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
