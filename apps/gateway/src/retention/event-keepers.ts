import type { Log } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import type { EventKeeper } from '../backend/keepers';

/** Events that streams show. */
export function feedKeeper(database: Database): EventKeeper {
  return {
    async forget(organizationId, before, removed) {
      await database.inTenant(organizationId, async (tx) => {
        if (before !== null) {
          await tx.query('delete from event_feed where organization_id = $1 and recorded_at < $2', [
            organizationId,
            new Date(before).toISOString(),
          ]);
        }
        if (removed.length === 0) return;
        await tx.query(
          `delete from event_feed f
            using unnest($2::uuid[], $3::text[]) as gone (conversation_id, message_id)
            where f.organization_id = $1 and f.conversation_id = gone.conversation_id
              and (gone.message_id is null or position(gone.message_id in f.body) > 0)`,
          [
            organizationId,
            removed.map(({ conversationId }) => conversationId),
            removed.map(({ messageId }) => messageId),
          ],
        );
      });
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
