import type { Route } from '../http';
import type { Backend } from './backend';

/** A gateway without services, for tests and benches: callers see no records, and no data is stored elsewhere. */
export function noServices(routes: readonly Route[] = []): Backend {
  const nothing = { messages: 0, conversations: 0, mailboxes: 0, more: false };
  return {
    tenants: [],
    routes: () => routes,
    serviceLimits: {},
    visibleMailboxIds: async () => [],
    seesMailbox: async () => false,
    seesWebhook: async () => false,
    visibility: {
      findReaders: async ({ places }) => ({
        places: places.map(() => ({ userIds: [], senderIds: [] })),
      }),
    },
    putDomains: async (_organizationId, names) => names,
    mailKeeper: {
      removeExpired: async () => nothing,
      listRemoved: async () => [],
      acknowledgeRemoved: async () => undefined,
      sweepBlobs: async () => ({ blobs: 0, bytes: 0, more: false }),
    },
  };
}
