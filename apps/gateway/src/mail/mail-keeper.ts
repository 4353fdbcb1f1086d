import type { RetentionServiceService } from '@dak/contracts/mail';
import type { CallOptions, Client } from '@dak/platform/grpc';
import { upkeepCall, type MailKeeper } from '../backend/keepers';

const GENTLE_BUDGET_MS = 2_000;
const FAST_BUDGET_MS = 10_000;

/** Removes expired data in the mail service. */
export function createMailKeeper(
  client: Client<typeof RetentionServiceService, CallOptions>,
): MailKeeper {
  return {
    removeExpired: (organizationId, before, pace) =>
      client.removeExpired(
        {
          organizationId,
          ...(before === null ? {} : { before: new Date(before).toISOString() }),
          budgetMs: pace === 'fast' ? FAST_BUDGET_MS : GENTLE_BUDGET_MS,
          isGentle: pace === 'gentle',
        },
        upkeepCall(),
      ),
    listRemoved: async (organizationId) => {
      const { removed } = await client.listRemoved({ organizationId }, upkeepCall());
      return removed.map((mail) => ({ ...mail, messageId: mail.messageId ?? null }));
    },
    acknowledgeRemoved: async (organizationId, ids) => {
      await client.acknowledgeRemoved({ organizationId, ids: [...ids] }, upkeepCall());
    },
    sweepBlobs: (organizationId, { isWhole, forgetsJournals }) =>
      client.sweepBlobs(
        { organizationId, whole: isWhole, forgetJournals: forgetsJournals },
        upkeepCall(),
      ),
  };
}
