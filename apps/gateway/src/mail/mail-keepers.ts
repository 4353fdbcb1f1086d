import type { RetentionServiceService } from '@dak/contracts/mail';
import { uuidv7 } from '@dak/kernel';
import type { CallOptions, Client } from '@dak/platform/grpc';
import type { Keepers } from '../backend/keepers';

/** What one call may take: a walk over all references of a large organization. */
const WITHIN_MS = 900_000;
const GENTLE_BUDGET_MS = 2_000;
const FAST_BUDGET_MS = 10_000;

/** What the mail service removes. */
export function mailKeepers(client: Client<typeof RetentionServiceService, CallOptions>): Keepers {
  return {
    mail: {
      removeExpired: (organizationId, before, pace) =>
        client.removeExpired(
          {
            organizationId,
            ...(before === null ? {} : { before: new Date(before).toISOString() }),
            budgetMs: pace === 'fast' ? FAST_BUDGET_MS : GENTLE_BUDGET_MS,
            isGentle: pace === 'gentle',
          },
          upkeep(),
        ),
      listRemoved: async (organizationId) => {
        const { removed } = await client.listRemoved({ organizationId }, upkeep());
        return removed.map((mail) => ({ ...mail, messageId: mail.messageId ?? null }));
      },
      acknowledgeRemoved: async (organizationId, ids) => {
        await client.acknowledgeRemoved({ organizationId, ids: [...ids] }, upkeep());
      },
      sweepBlobs: (organizationId, { isWhole, forgetsJournals }) =>
        client.sweepBlobs(
          { organizationId, whole: isWhole, forgetJournals: forgetsJournals },
          upkeep(),
        ),
    },
    events: [],
    erasers: [(organizationId) => client.eraseOrganization({ organizationId }, upkeep())],
  };
}

function upkeep(): CallOptions {
  return { principal: null, requestId: `upkeep-${uuidv7()}`, deadline: Date.now() + WITHIN_MS };
}
