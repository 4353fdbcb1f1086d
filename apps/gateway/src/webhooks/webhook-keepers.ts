import type { RetentionServiceService } from '@dak/contracts/webhook';
import { uuidv7 } from '@dak/kernel';
import type { CallOptions, Client } from '@dak/platform/grpc';
import type { Keepers } from '../backend/keepers';

const WITHIN_MS = 120_000;

/** What the webhook service removes. */
export function webhookKeepers(
  client: Client<typeof RetentionServiceService, CallOptions>,
): Keepers {
  return {
    events: [
      {
        forget: (organizationId, before, removed) =>
          client.forget(
            {
              organizationId,
              ...(before === null ? {} : { before: new Date(before).toISOString() }),
              removed: removed.map(({ conversationId, messageId }) => ({
                conversationId,
                ...(messageId === null ? {} : { messageId }),
              })),
            },
            upkeep(),
          ),
      },
    ],
    erasers: [
      async (organizationId) => {
        const erased = await client.eraseOrganization({ organizationId }, upkeep());
        return { ...erased, blobs: 0, bytes: 0 };
      },
    ],
  };
}

function upkeep(): CallOptions {
  return { principal: null, requestId: `upkeep-${uuidv7()}`, deadline: Date.now() + WITHIN_MS };
}
