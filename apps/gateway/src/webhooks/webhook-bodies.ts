import { z } from 'zod';
import { WEBHOOK_ORDERINGS } from '@dak/contracts/api';
import { EVENT_KINDS } from '@dak/contracts/events';
import { CreateEndpointRequest, UpdateEndpointRequest } from '@dak/contracts/webhook';
import { sentFields } from '@dak/contracts/requests';

export const eventTypes = z.array(z.enum(EVENT_KINDS)).max(EVENT_KINDS.length);

const limit = (least: number, most: number, description: string) =>
  z.int().min(least).max(most).nullable().optional().meta({ description });

const fields = {
  description: z.string().max(500).optional(),
  event_types: eventTypes.optional().meta({ description: 'Empty or absent: all.' }),
  mailbox_ids: z.array(z.uuid()).max(200).optional().meta({
    description: 'Empty or absent: all that the owner sees, as of each event.',
  }),
  ordering: z.enum(WEBHOOK_ORDERINGS).optional().meta({
    default: 'none',
    description:
      'conversation: events of one conversation are sent one after the other, in order; a failing one holds up the others of its conversation for 1 hour at most.',
  }),
  headers: z.record(z.string(), z.string()).optional().meta({
    description:
      'Sent with every request; only the names are shown again. Not those that Dak sets: Host, Content-*, Webhook-*, Connection, Transfer-Encoding and the like.',
  }),
  enabled: z.boolean().optional().meta({ default: true }),
  rate_per_second: limit(1, 5000, 'Requests per second at most; null = the default.'),
  max_concurrency: limit(1, 128, 'Requests at once at most; null = the default.'),
  timeout_ms: limit(1000, 30_000, 'From the connection to the status; null = the default.'),
};

const url = z.string().min(1).max(2048).meta({
  description:
    'https, on port 443 or 8443, at a public address; others only where the operator allows them.',
});

export const createWebhookBody = z
  .object({
    url,
    ...fields,
    own_secret: z.boolean().optional().meta({
      default: false,
      description: 'A secret for this webhook alone, shown in this reply and never again.',
    }),
  })
  .meta({ id: 'CreateWebhook' });

export const updateWebhookBody = z
  .object({ url: url.optional(), ...fields })
  .meta({ id: 'UpdateWebhook' });

const secretFields = {
  secret: z.string().max(200).optional().meta({
    description: '`whsec_` and base64 of 24 to 64 bytes. Absent: made by Dak.',
  }),
  overlap_hours: z.int().min(0).max(168).optional().meta({
    default: 24,
    description: 'How long earlier secrets sign too.',
  }),
};

/** The body may be absent. */
export const secretBody = z.object(secretFields).meta({ id: 'WebhookSecretChange' }).prefault({});

export function toCreateEndpoint(body: z.output<typeof createWebhookBody>): CreateEndpointRequest {
  return CreateEndpointRequest.fromPartial({
    ...settingsOf(body),
    url: body.url,
    enabled: body.enabled ?? true,
    ownSecret: body.own_secret ?? false,
  });
}

export function toUpdateEndpoint(
  id: string,
  version: number | null,
  body: z.output<typeof updateWebhookBody>,
): UpdateEndpointRequest {
  return UpdateEndpointRequest.fromPartial({
    ...settingsOf(body),
    id,
    version: version ?? undefined,
    fields: sentFields(updateWebhookBody.shape, body),
    url: body.url ?? '',
    enabled: body.enabled ?? false,
  });
}

function settingsOf(body: z.output<typeof updateWebhookBody>) {
  return {
    description: body.description ?? '',
    eventTypes: body.event_types ?? [],
    mailboxIds: body.mailbox_ids ?? [],
    ordering: body.ordering ?? 'none',
    headers: body.headers ?? {},
    ratePerSecond: body.rate_per_second ?? undefined,
    maxConcurrency: body.max_concurrency ?? undefined,
    timeoutMs: body.timeout_ms ?? undefined,
  };
}
