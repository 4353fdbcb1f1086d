import { CreateWebhook, WEBHOOK_LIMITS, type CreatedWebhookRecord } from '@dak/contracts/api';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import type { CreateEndpointRequest, Document } from '@dak/contracts/webhook';
import { ConflictError, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { saveCaller } from '@dak/platform/tenant-directory';
import { ensureOrganizationSecret, replaceSecret } from '../secrets/replace-secret';
import { idempotentSealed } from '../secrets/sealed-answer';
import { headerColumns, hostOf, requireUrl } from './endpoint';
import { makersOf, requireScopesFor } from './endpoint-makers';
import { insertEndpoint, loadEndpoint, lockEndpointCount } from './endpoint-store';
import { renderEndpoint } from './render-endpoint';
import type { WebhookDeps } from './webhook-deps';

/**
 * The caller becomes the owner.
 * @throws InvalidError naming the field; ConflictError when the organization has the most it may have
 */
export async function createEndpoint(
  deps: WebhookDeps,
  request: CreateEndpointRequest,
  context: CallContext,
): Promise<Document> {
  const { database, sealing, clock } = deps;
  const { principal } = context;
  const { organizationId } = principal;
  // Names of headers are data, not fields.
  const body = { ...requestOf(request), headers: request.headers };
  const { own_secret, headers, ...settings } = parseRequest(CreateWebhook, body);
  requireUrl(settings.url, deps.allowance);
  requireScopesFor(principal, settings.event_types);
  return database.inTenant(organizationId, (tx) =>
    idempotentSealed(tx, context, sealing, async () => {
      const count = await lockEndpointCount(tx, organizationId);
      const max = WEBHOOK_LIMITS.webhooks_per_organization;
      if (count >= max) {
        throw new ConflictError(
          `The organization has ${max} webhooks, which is the limit: delete one first.`,
          'too_many_webhooks',
        );
      }
      const id = uuidv7(clock());
      await saveCaller(tx, principal);
      const columns = {
        ...settings,
        ...headerColumns(headers, sealing, organizationId),
        ...makersOf(principal),
      };
      await insertEndpoint(tx, principal, id, columns, clock());
      const scope = { organizationId, endpointId: id };
      const own = own_secret
        ? await replaceSecret(tx, sealing, scope, { overlap_hours: 0 }, clock())
        : null;
      if (own === null) await ensureOrganizationSecret(tx, sealing, organizationId);
      const row = await loadEndpoint(tx, principal, id);
      await noteAudit(tx, context, {
        action: 'webhook.created',
        target: { type: 'webhook', id },
        details: {
          host: hostOf(settings.url),
          event_types: settings.event_types,
          mailbox_ids: settings.mailbox_ids,
          own_secret: own !== null,
        },
      });
      const record: CreatedWebhookRecord = { ...renderEndpoint(row), secret: own?.secret ?? null };
      return { id, version: row.version, json: jsonBytes(record), replayed: false };
    }),
  );
}
