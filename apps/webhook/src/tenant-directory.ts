import type { Database } from '@dak/platform/postgres';
import type { TenantDirectoryParts } from '@dak/platform/tenant-directory';
import { disableEndpointsOf, disableEndpointsOfKey } from './endpoints/disable-endpoint-store';
import { selectEndpointIds } from './endpoints/endpoint-store';
import { forgetBefore, forgetRemoved } from './retention/retention-store';

/** Events deleted in one call. */
const BATCH = 1_000;

/** Applies the gateway's announcements to webhooks. */
export function webhookTenants(deps: {
  database: Database;
  /** Endpoints that were deleted, or whose permission to be sent to has changed. */
  onChanged: (endpointIds: readonly string[]) => void;
  /** The permission to send has changed for all endpoints. */
  onSwitched: () => void;
}): TenantDirectoryParts {
  const { database, onChanged, onSwitched } = deps;
  return {
    database,
    async onOrganization(tx, { organizationId }) {
      const endpoints = await selectEndpointIds(tx, organizationId);
      return () => onChanged(endpoints);
    },
    async onPerson(tx, { organizationId, userId, active }) {
      if (active) return undefined;
      const stopped = await disableEndpointsOf(tx, organizationId, userId);
      return () => onChanged(stopped);
    },
    async onKeyEnd(tx, organizationId, keyId) {
      const stopped = await disableEndpointsOfKey(tx, organizationId, keyId);
      return () => onChanged(stopped);
    },
    stopSwitch: { name: 'webhooks', onSwitched },
    async forget(tx, organizationId, { before, removed }) {
      const old = before === null ? 0 : await forgetBefore(tx, organizationId, before, BATCH);
      const events = old + (await forgetRemoved(tx, organizationId, removed));
      return { events, more: old >= BATCH };
    },
    async onErase(tx, organizationId) {
      const endpoints = await selectEndpointIds(tx, organizationId);
      return async () => {
        onChanged(endpoints);
        return undefined;
      };
    },
  };
}
