import type { Document, UpdateEndpointRequest } from '@dak/contracts/webhook';
import { InvalidError, VersionMismatchError, type Principal } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { Sealing } from '../secrets/sealing';
import { hostOf } from './create-endpoint';
import { cancelPending } from './disable-endpoint-store';
import { checkSettings, type EndpointSettings } from './endpoint';
import { makersOf, makersWith, requireScopesFor, type Makers } from './endpoint-makers';
import type { EndpointColumns, EndpointRow } from './endpoint-row';
import { loadEndpoint, updateEndpointRow } from './endpoint-store';
import { renderEndpoint } from './render-endpoint';
import type { WebhookDeps } from './webhook-deps';

/**
 * Sets the fields that are named.
 * @throws InvalidError naming the field; NotFoundError; VersionMismatchError
 */
export async function updateEndpoint(
  deps: WebhookDeps,
  request: UpdateEndpointRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const settings = settingsOf(request);
  checkSettings(settings, deps.allowance);
  const document = await deps.database.inTenant(organizationId, async (tx) => {
    const before = await loadEndpoint(tx, principal, request.id, true);
    if (request.version !== undefined && request.version !== before.version) {
      throw new VersionMismatchError('webhook', before.version);
    }
    const changed = columnsOf(settings, deps.sealing, organizationId);
    // To stop it is always allowed.
    if (changed.enabled !== false || Object.keys(changed).length > 1) {
      requireScopesFor(principal, changed.event_types ?? before.event_types);
    }
    const columns = { ...changed, ...makersAfter(before, changed, principal) };
    // Whatever was queued at the moment of disabling: enabling brings nothing old.
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

/** Enabling what Dak has disabled takes it over; whoever changes what goes where has part in it. */
function makersAfter(
  before: EndpointRow,
  changed: Partial<EndpointColumns>,
  principal: Principal,
): Partial<Makers> {
  if (changed.enabled === true && before.status === 'disabled') return makersOf(principal);
  return Object.keys(changed).length === 0 ? {} : makersWith(before, principal);
}

const READERS: Record<string, (request: UpdateEndpointRequest) => Partial<EndpointSettings>> = {
  url: ({ url }) => ({ url }),
  description: ({ description }) => ({ description }),
  event_types: ({ eventTypes }) => ({ eventTypes }),
  mailbox_ids: ({ mailboxIds }) => ({ mailboxIds }),
  ordering: ({ ordering }) => ({ ordering }),
  headers: ({ headers }) => ({ headers }),
  enabled: ({ enabled }) => ({ enabled }),
  rate_per_second: ({ ratePerSecond }) => ({ ratePerSecond: ratePerSecond ?? null }),
  max_concurrency: ({ maxConcurrency }) => ({ maxConcurrency: maxConcurrency ?? null }),
  timeout_ms: ({ timeoutMs }) => ({ timeoutMs: timeoutMs ?? null }),
};

function settingsOf(request: UpdateEndpointRequest): Partial<EndpointSettings> {
  return Object.assign(
    {},
    ...request.fields.map((field) => {
      const read = READERS[field];
      if (read === undefined) throw new InvalidError(`${field} cannot be changed.`);
      return read(request);
    }),
  ) as Partial<EndpointSettings>;
}

function columnsOf(
  settings: Partial<EndpointSettings>,
  sealing: Sealing,
  organizationId: string,
): Partial<EndpointColumns> {
  const { eventTypes, mailboxIds, headers, ratePerSecond, maxConcurrency, timeoutMs } = settings;
  const { url, description, ordering, enabled } = settings;
  const names = Object.keys(headers ?? {});
  const columns = {
    url,
    description,
    ordering,
    enabled,
    event_types: eventTypes,
    mailbox_ids: mailboxIds,
    rate_per_second: ratePerSecond,
    max_concurrency: maxConcurrency,
    timeout_ms: timeoutMs,
    header_names: headers === undefined ? undefined : names,
    sealed_headers:
      headers === undefined
        ? undefined
        : names.length === 0
          ? null
          : sealing.seal(JSON.stringify(headers), organizationId),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
