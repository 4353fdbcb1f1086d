import { ChangeWebhookSecret, type WebhookSecretState } from '@dak/contracts/api';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import type { WebhookServiceService } from '@dak/contracts/webhook';
import { ForbiddenError, seesWholeOrganization, type Principal } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { replaceSecret } from '../secrets/replace-secret';
import { idempotentSealed } from '../secrets/sealed-answer';
import { selectCurrent, selectOverlapEnd } from '../secrets/secret-store';
import { loadEndpoint, selectEndpointIds } from './endpoint-store';
import type { WebhookDeps } from './webhook-deps';

type SecretMethods = 'rotateSecret' | 'putTenantSecret' | 'getTenantSecret';

export function createSecretHandlers(
  deps: WebhookDeps,
): Pick<Handlers<typeof WebhookServiceService, CallContext>, SecretMethods> {
  const { database, sealing, clock, onChanged } = deps;
  return {
    async rotateSecret(request, context) {
      const { id } = request;
      const change = parseRequest(ChangeWebhookSecret, requestOf(request));
      const { principal } = context;
      const { organizationId } = principal;
      const document = await database.inTenant(organizationId, (tx) =>
        idempotentSealed(tx, context, sealing, async () => {
          await loadEndpoint(tx, principal, id, true);
          const scope = { organizationId, endpointId: id };
          const record = await replaceSecret(tx, sealing, scope, change, clock());
          await noteAudit(tx, context, {
            action: 'webhook.secret_rotated',
            target: { type: 'webhook', id },
            details: { overlap_hours: change.overlap_hours },
          });
          return { id, version: 0, json: jsonBytes(record), replayed: false };
        }),
      );
      onChanged([id]);
      return document;
    },
    async putTenantSecret(request, context) {
      requireAdmin(context.principal);
      const change = parseRequest(ChangeWebhookSecret, requestOf(request));
      const { organizationId } = context.principal;
      const { document, endpointIds } = await database.inTenant(organizationId, async (tx) => ({
        document: await idempotentSealed(tx, context, sealing, async () => {
          const scope = { organizationId, endpointId: null };
          const record = await replaceSecret(tx, sealing, scope, change, clock());
          await noteAudit(tx, context, {
            action: 'webhook_secret.replaced',
            target: { type: 'organization', id: organizationId },
            details: {
              overlap_hours: change.overlap_hours,
              is_given: change.secret !== undefined,
            },
          });
          return { id: organizationId, version: 0, json: jsonBytes(record), replayed: false };
        }),
        endpointIds: await selectEndpointIds(tx, organizationId),
      }));
      onChanged(endpointIds);
      return document;
    },
    async getTenantSecret(_request, { principal }) {
      const { organizationId } = principal;
      const scope = { organizationId, endpointId: null };
      return database.inTenant(organizationId, async (tx) => {
        const current = await selectCurrent(tx, scope);
        const state: WebhookSecretState = {
          exists: current !== null,
          created_at: current?.created_at ?? null,
          previous_valid_until: await selectOverlapEnd(tx, scope),
        };
        return { id: organizationId, version: 0, json: jsonBytes(state), replayed: false };
      });
    },
  };
}

function requireAdmin(principal: Principal): void {
  if (seesWholeOrganization(principal)) return;
  throw new ForbiddenError(
    'Only administrators may set the secret that webhooks of the organization are signed with.',
  );
}
