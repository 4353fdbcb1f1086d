import type { RetentionServiceService } from '@dak/contracts/webhook';
import { InvalidError, isUuid } from '@dak/kernel';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { eraseTenant, type Database } from '@dak/platform/postgres';
import { selectEndpointIds } from '../endpoints/endpoint-store';
import { noteErased } from '../organizations/erased-store';
import { forgetBefore, forgetRemoved } from './retention-store';

const BUDGET_MS = 5_000;
const BATCH = 1_000;

/** What the gateway asks for when an organization keeps something no longer; registered for the gateway alone. */
export function createRetentionHandlers(deps: {
  database: Database;
  /** Endpoints that do not exist any more. */
  onChanged: (endpointIds: readonly string[]) => void;
}): Handlers<typeof RetentionServiceService, CallContext> {
  const { database, onChanged } = deps;
  return {
    async forget({ organizationId, before, removed }) {
      requireUuid(organizationId);
      const events = await database.inTenant(organizationId, async (tx) => {
        const old =
          before === undefined ? 0 : await forgetBefore(tx, organizationId, before, BATCH);
        return { old, removed: await forgetRemoved(tx, organizationId, removed) };
      });
      return { events: events.old + events.removed, more: events.old >= BATCH };
    },
    async eraseOrganization({ organizationId }) {
      requireUuid(organizationId);
      const endpoints = await database.inTenant(organizationId, async (tx) => {
        await noteErased(tx, organizationId);
        return selectEndpointIds(tx, organizationId);
      });
      const erased = await eraseTenant(database, { organizationId, budgetMs: BUDGET_MS });
      onChanged(endpoints);
      return erased;
    },
  };
}

function requireUuid(value: string): void {
  if (!isUuid(value)) throw new InvalidError('organization_id must be a UUID.');
}
