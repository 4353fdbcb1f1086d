import { z } from 'zod';
import { PublicEventRecord } from '../event-data';

const id = z.uuid();
const timestamp = z.iso.datetime().describe('RFC 3339, UTC');

export const WEBHOOK_ORDERINGS = ['none', 'conversation'] as const;
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'skipped', 'canceled'] as const;
export const DELIVERY_TRIGGERS = ['automatic', 'replay', 'retry', 'test'] as const;
export const ATTEMPT_OUTCOMES = ['delivered', 'retry', 'slow_down', 'gone', 'failed'] as const;

/** An endpoint. Values of custom headers and secrets are never shown. */
export const WebhookRecord = z.object({
  id,
  owner_user_id: id.describe('Only events this user may see now are sent'),
  url: z.string(),
  description: z.string(),
  event_types: z.array(z.string()).describe('Empty = all'),
  mailbox_ids: z.array(id).describe('Empty = every mailbox the owner can see'),
  ordering: z.enum(WEBHOOK_ORDERINGS),
  header_names: z.array(z.string()).describe('Names of the custom headers'),
  enabled: z.boolean(),
  status: z
    .enum(['active', 'disabled'])
    .describe('disabled = Dak stopped sending; enabled: true resumes it it'),
  disabled_reason: z
    .enum(['gone', 'failing', 'owner_inactive', 'key_revoked'])
    .nullable()
    .describe(
      'gone = the endpoint answered 410; failing = no success for 5 days; owner_inactive = its owner was deactivated; key_revoked = an API key that created or changed it was revoked or has expired',
    ),
  disabled_at: timestamp.nullable(),
  own_secret: z.boolean().describe("false = signed with the organization's secret"),
  rate_per_second: z.int().nullable().describe('null = the default'),
  max_concurrency: z.int().nullable().describe('null = the default'),
  timeout_ms: z.int().nullable().describe('null = the default'),
  breaker: z.object({
    state: z.enum(['closed', 'open', 'half_open']),
    opened_at: timestamp.nullable(),
    next_probe_at: timestamp.nullable(),
  }),
  last_success_at: timestamp.nullable(),
  first_failure_at: timestamp.nullable().describe('Failures since the last success'),
  version: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** The reply to creating one; the only time that its own secret is shown. */
export const CreatedWebhookRecord = WebhookRecord.extend({ secret: z.string().nullable() });

/** The reply to setting or rotating a secret; it is not shown again. */
export const WebhookSecretRecord = z.object({
  secret: z.string().describe('whsec_ followed by base64'),
  previous_valid_until: timestamp.nullable().describe('Until then, earlier secrets sign as well'),
});

export const WebhookSecretState = z.object({
  exists: z.boolean(),
  created_at: timestamp.nullable(),
  previous_valid_until: timestamp.nullable(),
});

/** One event for one endpoint. */
export const WebhookDeliveryRecord = z.object({
  id,
  webhook_id: id,
  event_id: z.string().describe('Sent as webhook-id'),
  event_type: z.string(),
  trigger: z.enum(DELIVERY_TRIGGERS),
  replay_id: id.nullable(),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      'skipped = given up so that the rest of its conversation proceeds; canceled = the endpoint was disabled, or error_code is owner_cannot_read',
    ),
  attempts: z.int(),
  next_attempt_at: timestamp.nullable(),
  gap: z.boolean().describe('An earlier event of the conversation was skipped'),
  status_code: z.int().nullable().describe('Status of the latest attempt'),
  error_code: z.string().nullable().describe('Status of the latest attempt'),
  created_at: timestamp,
  first_attempt_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
});

export const WebhookDeliveryDetail = WebhookDeliveryRecord.extend({
  body: PublicEventRecord.nullable().describe('What was sent; null for a caller without mail.read'),
});

export const WebhookAttemptRecord = z.object({
  number: z.int(),
  at: timestamp,
  duration_ms: z.int(),
  outcome: z.enum(ATTEMPT_OUTCOMES),
  status_code: z.int().nullable(),
  error_code: z.string().nullable(),
  detail: z.string().nullable(),
  response_start: z.string().nullable().describe('First 1 000 characters of the response'),
});

/** A replay; `examined` of `total` deliveries have been checked. */
export const WebhookReplayRecord = z.object({
  id,
  webhook_id: id,
  since: timestamp,
  until: timestamp,
  types: z.array(z.string()),
  only_failed: z.boolean(),
  state: z.enum(['running', 'done', 'canceled']),
  total: z.int(),
  examined: z.int(),
  queued: z.int().describe('Deliveries made so far'),
  requested_by: id,
  created_at: timestamp,
  finished_at: timestamp.nullable(),
});

export type WebhookRecord = z.infer<typeof WebhookRecord>;
export type CreatedWebhookRecord = z.infer<typeof CreatedWebhookRecord>;
export type WebhookSecretRecord = z.infer<typeof WebhookSecretRecord>;
export type WebhookSecretState = z.infer<typeof WebhookSecretState>;
export type WebhookDeliveryRecord = z.infer<typeof WebhookDeliveryRecord>;
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>;
export type WebhookAttemptRecord = z.infer<typeof WebhookAttemptRecord>;
export type WebhookReplayRecord = z.infer<typeof WebhookReplayRecord>;
