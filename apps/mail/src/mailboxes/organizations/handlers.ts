import type { TenantServiceService } from '@dak/contracts/mail';
import { InvalidError, isUuid, type Clock } from '@dak/kernel';
import { notesPublished } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { grantFirstDomains, putDomains } from '../../domains/put-domains';
import { isErased } from './erased-store';
import { saveOperations } from './operations-store';
import { saveOrganization } from './organization-store';
import { savePerson } from './person-store';

/** What the gateway tells about organizations, their people and the switches; registered for the gateway alone. */
export function createTenantHandlers(deps: {
  database: Database;
  clock: Clock;
  /** A key has ended: what it made stops. */
  onKeyEnd: (tx: SqlExecutor, organizationId: string, keyId: string) => Promise<void>;
  /** Mail that was held may go on. */
  onReleased?: () => void;
}): Handlers<typeof TenantServiceService, CallContext> {
  return {
    async putOrganization(request) {
      if (!isUuid(request.organizationId)) {
        throw new InvalidError('organization_id must be a UUID.');
      }
      const now = deps.clock();
      await deps.database.inTenant(request.organizationId, async (tx) => {
        if (await isErased(tx, request.organizationId)) return;
        const isNew = await saveOrganization(tx, request, new Date(now));
        if (isNew) {
          await grantFirstDomains(tx, request.organizationId, request.firstDomains, now);
        }
      });
      deps.onReleased?.();
      return {};
    },
    async putOperations(request) {
      if (request.outgoing !== 'run' && request.outgoing !== 'hold') {
        throw new InvalidError('outgoing must be run or hold.');
      }
      await deps.database.asWorker((tx) => saveOperations(tx, request));
      deps.onReleased?.();
      return {};
    },
    async putUser(request) {
      if (!isUuid(request.organizationId)) {
        throw new InvalidError('organization_id must be a UUID.');
      }
      if (!isUuid(request.userId)) throw new InvalidError('user_id must be a UUID.');
      await deps.database.inTenant(request.organizationId, async (tx) => {
        if (await isErased(tx, request.organizationId)) return;
        await savePerson(tx, request, new Date(deps.clock()));
      });
      return {};
    },
    async putKeyEnd({ organizationId, keyId }) {
      if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
      if (!isUuid(keyId)) throw new InvalidError('key_id must be a UUID.');
      await deps.database.inTenant(organizationId, (tx) =>
        deps.onKeyEnd(tx, organizationId, keyId),
      );
      return {};
    },
    async settleAudit() {
      await notesPublished(deps.database);
      return {};
    },
    putDomains: (request) => putDomains(deps, request),
  };
}
