import type { CreatedWebhookRecord } from '@dak/contracts/api';
import type { CreateEndpointRequest, Document } from '@dak/contracts/webhook';
import { ConflictError, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { saveCaller } from '@dak/platform/tenant-directory';
import { ensureTenantSecret, replaceSecret } from '../secrets/replace-secret';
import { idempotentSealed } from '../secrets/sealed-answer';
import { MAX_ENDPOINTS, checkSettings } from './endpoint';
import { makersOf, requireScopesFor } from './endpoint-makers';
import type { EndpointColumns } from './endpoint-row';
import { insertEndpoint, loadEndpoint, lockEndpointCount } from './endpoint-store';
import { renderEndpoint } from './render-endpoint';
import type { WebhookDeps } from './webhook-deps';

/**
 * The caller becomes its owner.
 * @throws InvalidError naming the field; ConflictError when the organization has too many
 */
export async function createEndpoint(
  deps: WebhookDeps,
  request: CreateEndpointRequest,
  context: CallContext,
): Promise<Document> {
  const { database, sealing, clock } = deps;
  const { principal } = context;
  const { organizationId } = principal;
  const settings = {
    url: request.url,
    description: request.description,
    eventTypes: request.eventTypes,
    mailboxIds: request.mailboxIds,
    ordering: (request.ordering || 'none') as EndpointColumns['ordering'],
    headers: request.headers,
    enabled: request.enabled,
    ratePerSecond: request.ratePerSecond ?? null,
    maxConcurrency: request.maxConcurrency ?? null,
    timeoutMs: request.timeoutMs ?? null,
  };
  checkSettings(settings, deps.allowance);
  requireScopesFor(principal, settings.eventTypes);
  return database.inTenant(organizationId, (tx) =>
    idempotentSealed(tx, context, sealing, async () => {
      const count = await lockEndpointCount(tx, organizationId);
      if (count >= MAX_ENDPOINTS) {
        throw new ConflictError(
          `The organization has ${MAX_ENDPOINTS} webhooks, which is the limit: delete one first.`,
          'too_many_webhooks',
        );
      }
      const id = uuidv7(clock());
      await saveCaller(tx, principal);
      const names = Object.keys(settings.headers);
      await insertEndpoint(
        tx,
        principal,
        id,
        {
          url: settings.url,
          description: settings.description,
          event_types: settings.eventTypes,
          mailbox_ids: settings.mailboxIds,
          ordering: settings.ordering,
          header_names: names,
          sealed_headers:
            names.length === 0
              ? null
              : sealing.seal(JSON.stringify(settings.headers), organizationId),
          enabled: settings.enabled,
          rate_per_second: settings.ratePerSecond,
          max_concurrency: settings.maxConcurrency,
          timeout_ms: settings.timeoutMs,
          ...makersOf(principal),
        },
        clock(),
      );
      const scope = { organizationId, endpointId: id };
      const own = request.ownSecret
        ? await replaceSecret(tx, sealing, scope, { overlapHours: 0 }, clock())
        : null;
      if (own === null) await ensureTenantSecret(tx, sealing, organizationId);
      const row = await loadEndpoint(tx, principal, id);
      await noteAudit(tx, context, {
        action: 'webhook.created',
        target: { type: 'webhook', id },
        details: {
          host: hostOf(settings.url),
          event_types: settings.eventTypes,
          mailbox_ids: settings.mailboxIds,
          own_secret: own !== null,
        },
      });
      const record: CreatedWebhookRecord = { ...renderEndpoint(row), secret: own?.secret ?? null };
      return { id, version: row.version, json: jsonBytes(record), replayed: false };
    }),
  );
}

/** The rest of a URL may hold what is not for the audit log. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
