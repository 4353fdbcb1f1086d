import type { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import { InvalidError, isUuid } from '@dak/kernel';
import { notesPublished } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { eraseTenant } from '@dak/platform/postgres';
import { isErased, noteErased, saveOrganization, savePerson, saveSwitch } from './directory-store';
import type { TenantDirectoryParts } from './tenant-directory-parts';

/** How long one call of an erasure works. */
const ERASE_BUDGET_MS = 5_000;

export type TenantHandlers = Handlers<typeof TenantDirectoryServiceService, CallContext>;

/** Stores the gateway's announcements, each in one transaction with the service's own reaction. */
export function createTenantHandlers(parts: TenantDirectoryParts): TenantHandlers {
  const { database, stopSwitch } = parts;
  return {
    async putOrganization(organization) {
      const { organizationId } = organization;
      requireUuids({ organization_id: organizationId });
      const afterCommit = await database.inTenant(organizationId, async (tx) => {
        if (await isErased(tx, organizationId)) return undefined;
        const known = await saveOrganization(tx, organization);
        return parts.onOrganization(tx, organization, known);
      });
      afterCommit?.();
      return {};
    },
    async putUser(person) {
      const { organizationId, userId } = person;
      requireUuids({ organization_id: organizationId, user_id: userId });
      const afterCommit = await database.inTenant(organizationId, async (tx) => {
        if (await isErased(tx, organizationId)) return undefined;
        return (await savePerson(tx, person)) ? parts.onPerson(tx, person) : undefined;
      });
      afterCommit?.();
      return {};
    },
    async putKeyEnd({ organizationId, keyId }) {
      requireUuids({ organization_id: organizationId, key_id: keyId });
      const afterCommit = await database.inTenant(organizationId, (tx) =>
        parts.onKeyEnd(tx, organizationId, keyId),
      );
      afterCommit?.();
      return {};
    },
    async putOperations(operations) {
      if (stopSwitch === null) return {};
      const { name, onSwitched } = stopSwitch;
      const value = operations[name];
      if (value !== 'run' && value !== 'hold') {
        throw new InvalidError(`${name} must be run or hold.`);
      }
      await database.asWorker((tx) => saveSwitch(tx, name, value, operations.version));
      onSwitched();
      return {};
    },
    async settleAudit() {
      await notesPublished(database);
      return {};
    },
    async forget({ organizationId, before = null, removed }) {
      requireUuids({ organization_id: organizationId });
      const { forget } = parts;
      if (forget === null) return { events: 0, more: false };
      return database.inTenant(organizationId, (tx) =>
        forget(tx, organizationId, { before, removed }),
      );
    },
    async eraseOrganization({ organizationId }) {
      requireUuids({ organization_id: organizationId });
      const afterErasure = await database.inTenant(organizationId, async (tx) => {
        await noteErased(tx, organizationId);
        return parts.onErase(tx, organizationId);
      });
      const { rows, more } = await eraseTenant(database, {
        organizationId,
        budgetMs: ERASE_BUDGET_MS,
      });
      const besides = await afterErasure?.(!more);
      return {
        rows,
        blobs: besides?.blobs ?? 0,
        bytes: besides?.bytes ?? 0,
        more: more || besides?.more === true,
      };
    },
  };
}

/** @throws InvalidError naming the first field that has another shape */
function requireUuids(fields: Readonly<Record<string, string>>): void {
  for (const [field, value] of Object.entries(fields)) {
    if (!isUuid(value)) throw new InvalidError(`${field} must be a UUID.`);
  }
}
