import type { TenantServiceService } from '@dak/contracts/webhook';
import { InvalidError, isUuid } from '@dak/kernel';
import { notesPublished } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { isErased } from './erased-store';
import { saveOperations, saveOrganization, savePerson } from './tenant-store';

type OnEnd = (tx: SqlExecutor, organizationId: string, id: string) => Promise<readonly string[]>;

/** What the gateway tells about organizations, their people and the switches; registered for the gateway alone. */
export function createTenantHandlers(deps: {
  database: Database;
  endpointsOf: (tx: SqlExecutor, organizationId: string) => Promise<readonly string[]>;
  /** A person is not active any more. @returns the endpoints that stop with them */
  onPersonEnd: OnEnd;
  /** A key has ended. @returns the endpoints that stop with it */
  onKeyEnd: OnEnd;
  /** Endpoints that may be sent to or not any more. */
  onChanged: (endpointIds: readonly string[]) => void;
  /** All endpoints may be sent to or not any more. */
  onSwitched: () => void;
}): Handlers<typeof TenantServiceService, CallContext> {
  const { database, onChanged, onSwitched, endpointsOf, onPersonEnd, onKeyEnd } = deps;
  return {
    async putOrganization(request) {
      requireUuid('organization_id', request.organizationId);
      const changed = await database.inTenant(request.organizationId, async (tx) => {
        if (await isErased(tx, request.organizationId)) return [];
        await saveOrganization(tx, request);
        return endpointsOf(tx, request.organizationId);
      });
      onChanged(changed);
      return {};
    },
    async putOperations(request) {
      if (request.webhooks !== 'run' && request.webhooks !== 'hold') {
        throw new InvalidError('webhooks must be run or hold.');
      }
      await database.asWorker((tx) => saveOperations(tx, request));
      onSwitched();
      return {};
    },
    async putUser(request) {
      requireUuid('organization_id', request.organizationId);
      requireUuid('user_id', request.userId);
      const changed = await database.inTenant(request.organizationId, async (tx) => {
        if (await isErased(tx, request.organizationId)) return [];
        const isNews = await savePerson(tx, request);
        if (!isNews || request.active) return [];
        return onPersonEnd(tx, request.organizationId, request.userId);
      });
      onChanged(changed);
      return {};
    },
    async putKeyEnd({ organizationId, keyId }) {
      requireUuid('organization_id', organizationId);
      requireUuid('key_id', keyId);
      const changed = await database.inTenant(organizationId, (tx) =>
        onKeyEnd(tx, organizationId, keyId),
      );
      onChanged(changed);
      return {};
    },
    async settleAudit() {
      await notesPublished(database);
      return {};
    },
  };
}

function requireUuid(field: string, value: string): void {
  if (!isUuid(value)) throw new InvalidError(`${field} must be a UUID.`);
}
