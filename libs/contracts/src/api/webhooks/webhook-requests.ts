import { z } from 'zod';
import { EVENT_KINDS } from '../../events/topics';
import { fewMembers, idListShape, timeShape } from '../../requests';
import { WEBHOOK_ORDERINGS } from './webhook-records';

const MAX_URL = 2_048;
const MAX_DESCRIPTION = 500;
const MAX_MAILBOXES = 200;
const MAX_HEADERS = 20;
const MAX_HEADER_CHARACTERS = 4_096;
const MAX_SECRET = 200;
const MAX_OVERLAP_HOURS = 168;
const DEFAULT_OVERLAP_HOURS = 24;

/** Headers that the request itself, Standard Webhooks, or a proxy on the way sets. */
const RESERVED_HEADER =
  /^(?:host|content-.*|webhook-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|accept|accept-encoding|user-agent|sec-.*)$/i;
/** RFC 9110 §5.6.2 token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** RFC 9110 §5.5, without obs-text. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

const eventTypes = z.array(z.enum(EVENT_KINDS)).max(EVENT_KINDS.length);

const url = z.string().min(1).max(MAX_URL).meta({
  description: 'https, port 443 or 8443, and a public address; the operator may permit other URLs.',
});

const headers = fewMembers(MAX_HEADERS, z.record(z.string(), z.string()))
  .superRefine((given, context) => {
    const fault = headersFault(given);
    if (fault !== null) context.addIssue({ code: 'custom', ...fault });
  })
  .meta({
    description: `At most ${MAX_HEADERS}. Sent with every request; only the names are shown again. Headers that Dak sets are refused: Host, Content-*, Webhook-*, Connection, Transfer-Encoding and the like.`,
  });

function headersFault(given: Readonly<Record<string, string>>) {
  const entries = Object.entries(given);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name)) {
      return { message: `has "${name}", which is no name of an HTTP header.` };
    }
    if (RESERVED_HEADER.test(name)) {
      return { message: `must not set ${name}: it is set with every request.` };
    }
    if (seen.has(name.toLowerCase())) return { message: `has ${name} twice.` };
    seen.add(name.toLowerCase());
    if (value.length > MAX_HEADER_CHARACTERS || !HEADER_VALUE.test(value)) {
      const message = `must be 1 to ${MAX_HEADER_CHARACTERS} printable ASCII characters.`;
      return { path: [name], message };
    }
  }
  return null;
}

/** Null = the default of the service. */
const limit = (min: number, max: number, description: string) =>
  z.int().min(min).max(max).nullable().meta({ description });

const settings = z.object({
  url,
  description: z.string().max(MAX_DESCRIPTION),
  event_types: eventTypes.meta({ description: 'Empty or absent: all kinds.' }),
  mailbox_ids: idListShape(MAX_MAILBOXES).meta({
    description: 'Empty or absent: all mailboxes that the owner sees when the event happens.',
  }),
  ordering: z.enum(WEBHOOK_ORDERINGS).meta({
    description:
      'conversation: events of one conversation are sent one after the other, in order; a failing one delays the others of its conversation for 1 hour at most.',
  }),
  headers,
  enabled: z.boolean(),
  rate_per_second: limit(1, 5_000, 'Most requests per second; null = the default.'),
  max_concurrency: limit(1, 128, 'Most requests at once; null = the default.'),
  timeout_ms: limit(1_000, 30_000, 'From the connection to the status; null = the default.'),
});
const { shape } = settings;

export const CreateWebhook = settings
  .extend({
    description: shape.description.default(''),
    event_types: shape.event_types.default([]),
    mailbox_ids: shape.mailbox_ids.default([]),
    ordering: shape.ordering.default('none'),
    headers: headers.default({}),
    enabled: shape.enabled.default(true),
    rate_per_second: shape.rate_per_second.default(null),
    max_concurrency: shape.max_concurrency.default(null),
    timeout_ms: shape.timeout_ms.default(null),
    own_secret: z.boolean().default(false).meta({
      description: 'Gives this webhook its own secret, shown in this response and never again.',
    }),
  })
  .meta({ id: 'CreateWebhook' });

export const UpdateWebhook = settings.partial().meta({ id: 'UpdateWebhook' });

/** The body may be absent. */
export const ChangeWebhookSecret = z
  .object({
    secret: z.string().max(MAX_SECRET).optional().meta({
      description: '`whsec_` and base64 of 24 to 64 bytes. Absent: Dak creates one.',
    }),
    overlap_hours: z.int().min(0).max(MAX_OVERLAP_HOURS).default(DEFAULT_OVERLAP_HOURS).meta({
      description: 'How long requests are signed with the earlier secret too.',
    }),
  })
  .meta({ id: 'WebhookSecretChange' })
  .prefault({});

/** The body may be absent. */
export const TestWebhook = z
  .object({ event_type: z.enum(EVENT_KINDS).default('mail.received') })
  .meta({ id: 'WebhookTest' })
  .prefault({});

export const ReplayWebhook = z
  .object({
    since: timeShape,
    until: timeShape.optional().meta({ description: 'Absent: now.' }),
    types: eventTypes.default([]).meta({ description: 'Empty or absent: all kinds.' }),
    only_failed: z.boolean().default(false).meta({
      description: 'Only events without a successful delivery to this webhook.',
    }),
  })
  .meta({ id: 'ReplayWebhook' });

export type CreateWebhook = z.output<typeof CreateWebhook>;
export type UpdateWebhook = z.output<typeof UpdateWebhook>;
