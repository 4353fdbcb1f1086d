import { UpdateWebhook } from '@dak/contracts/api';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import type { Document, UpdateEndpointRequest } from '@dak/contracts/webhook';
import { VersionMismatchError, type Principal } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { cancelPending } from './disable-endpoint-store';
import { headerColumns, hostOf, requireUrl } from './endpoint';
import { makersOf, makersWith, requireScopesFor, type Makers } from './endpoint-makers';
import type { EndpointColumns, EndpointRow } from './endpoint-row';
import { loadEndpoint, updateEndpointRow } from './endpoint-store';
import { renderEndpoint } from './render-endpoint';
import type { WebhookDeps } from './webhook-deps';

/**
 * Sets the fields that the request names.
 * @throws InvalidError naming the field; NotFoundError; VersionMismatchError
 */
export async function updateEndpoint(
  deps: WebhookDeps,
  request: UpdateEndpointRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const body = {
    ...requestOf(request, request.fields),
    // Names of headers are data, not fields.
    ...(request.fields.includes('headers') && { headers: request.headers }),
  };
  const { headers, ...settings } = parseRequest(UpdateWebhook, body);
  requireUrl(settings.url, deps.allowance);
  const document = await deps.database.inTenant(organizationId, async (tx) => {
    const before = await loadEndpoint(tx, principal, request.id, true);
    if (request.version !== undefined && request.version !== before.version) {
      throw new VersionMismatchError('webhook', before.version);
    }
    const changed: Partial<EndpointColumns> = {
      ...settings,
      ...(headers && headerColumns(headers, deps.sealing, organizationId)),
    };
    // Disabling is always allowed.
    if (changed.enabled !== false || Object.keys(changed).length > 1) {
      requireScopesFor(principal, changed.event_types ?? before.event_types);
    }
    const columns = { ...changed, ...makersAfter(before, changed, principal) };
    // Deliveries queued while it was being disabled are not sent later.
    if (columns.enabled === true && before.status === 'disabled') {
      await cancelPending(tx, [request.id]);
    }
    await updateEndpointRow(tx, organizationId, request.id, columns);
    await noteAudit(tx, context, {
      action: 'webhook.updated',
      target: { type: 'webhook', id: before.id },
      details: {
        fields: request.fields,
        ...(settings.url === undefined ? {} : { host: hostOf(settings.url) }),
        ...(settings.enabled === undefined ? {} : { enabled: settings.enabled }),
      },
    });
    const row = await loadEndpoint(tx, principal, request.id);
    return {
      id: row.id,
      version: row.version,
      json: jsonBytes(renderEndpoint(row)),
      replayed: false,
    };
  });
  deps.onChanged([request.id]);
  return document;
}

/** Enabling a webhook that Dak has disabled takes it over; any other change adds the caller's key to its makers. */
function makersAfter(
  before: EndpointRow,
  changed: Partial<EndpointColumns>,
  principal: Principal,
): Partial<Makers> {
  if (changed.enabled === true && before.status === 'disabled') return makersOf(principal);
  return Object.keys(changed).length === 0 ? {} : makersWith(before, principal);
}
