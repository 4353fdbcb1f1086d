import { CreateEntry, EntryRecord, type LedgerServiceService } from '@dak/contracts/ledger';
import type { CallOptions, Client } from '@dak/platform/grpc';
import { defineRoute, type Route } from '../http';
import { documentReply } from '../http/document-reply';

export function entryRoutes(ledger: Client<typeof LedgerServiceService, CallOptions>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/ledger/entries',
      tag: 'ledger',
      summary: 'Create an entry',
      request: { body: CreateEntry },
      responses: {
        201: { description: 'The entry', schema: EntryRecord.meta({ id: 'LedgerEntry' }) },
      },
      handler: async ({ body, call }) => documentReply(201, await ledger.createEntry(body, call)),
    }),
  ];
}
