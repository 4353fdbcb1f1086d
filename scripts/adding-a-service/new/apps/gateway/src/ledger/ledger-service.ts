import { LedgerServiceService, MAX_ENTRIES } from '@dak/contracts/ledger';
import { createClient, type Channel } from '@dak/platform/grpc';
import { tenantDirectory, type ServiceBackend } from '../backend/backend';
import { entryRoutes } from './entry-routes';

/** What the gateway needs of the ledger behind `channel`. */
export function ledgerService(channel: Channel): ServiceBackend {
  return {
    tenants: tenantDirectory(channel),
    routes: () => entryRoutes(createClient(LedgerServiceService, channel)),
    serviceLimits: { ledger_entries_per_organization: MAX_ENTRIES },
    provides: {},
  };
}
