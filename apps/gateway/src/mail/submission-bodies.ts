import { z } from 'zod';
import { InvalidError, RefusedError } from '@dak/kernel';
import { jsonField } from '@dak/contracts/requests';
import { ComposeRequest, Content, ForwardRequest, ReplyRequest } from '@dak/contracts/mail';

const MAX_LIST = 200;
const address = z.string().meta({ description: 'local-part@domain, or Name <local-part@domain>' });
const addresses = z.array(address).max(MAX_LIST);
const time = z.iso.datetime({ offset: true });

/** Fields that every kind of mail shares. */
export const contentFields = {
  cc: addresses.optional(),
  bcc: addresses.optional(),
  body_text: z.string().nullable().optional(),
  body_html: z.string().nullable().optional(),
  template_id: z.uuid().nullable().optional().meta({
    description:
      'Makes the text, and the subject of a new mail without one; excludes body_text and body_html.',
  }),
  template_variables: z.record(z.string(), z.unknown()).nullable().optional().meta({
    description: 'Values by variable name of the template.',
  }),
  attachment_tokens: z.array(z.string().max(200)).max(MAX_LIST).optional(),
  encrypt: z.boolean().optional(),
  send_at: time.nullable().optional().meta({
    description: 'When to send: 1 minute to 180 days ahead. null sends now.',
  }),
  scheduled_at: time.nullable().optional().meta({ description: 'Same as send_at.' }),
  scheduled_for: time.nullable().optional().meta({ description: 'Same as send_at.' }),
  send_window: z
    .object({
      time_zone: z.string().meta({ description: 'IANA name' }),
      days: z.array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])).min(1),
      from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM.'),
      to: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM.'),
    })
    .strict()
    .nullable()
    .optional()
    .meta({ description: 'The mail waits for the next opening of this window.' }),
  cancel_if_reply: z.boolean().optional().meta({
    description: 'Drops mail on hold when the other side answers first.',
  }),
  undo_seconds: z.int().min(0).max(120).nullable().optional().meta({
    description:
      'Seconds during which the mail can be taken back. Absent: the setting of the mailbox for sessions, 0 for API keys.',
  }),
  signature_id: z.uuid().nullable().optional().meta({
    description: 'Absent: the default of the mailbox; null: none.',
  }),
  signature_position: z.enum(['above_quote', 'end']).optional(),
  reply_to: addresses.optional(),
  labels: z.array(z.string().max(100)).max(64).optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  list_unsubscribe: z.unknown().optional().meta({ description: 'Not available yet: null only.' }),
  tracking: z
    .object({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
    .strict()
    .nullable()
    .optional()
    .meta({ description: 'Not available yet: false only.' }),
  require_approval: z.boolean().optional(),
  on_behalf_of_run_id: z.uuid().nullable().optional(),
};

type ContentBody = z.output<z.ZodObject<typeof contentFields>>;

export const composeBody = z.object({
  mailbox_id: z.uuid(),
  to: addresses.optional(),
  subject: z.string().optional(),
  ...contentFields,
});

const replyFields = {
  to: addresses.optional().meta({ description: 'Only with reply_mode "custom".' }),
  reply_mode: z.enum(['sender', 'all', 'custom']).optional(),
  quote_original: z.boolean().optional(),
  expected_last_message_id: z.uuid().nullable().optional().meta({
    description: 'The newest message that was read: 409 when another came meanwhile.',
  }),
};
export const replyBody = z.object({ ...replyFields, ...contentFields });

export const forwardBody = z.object({
  message_id: z.uuid().nullable().optional().meta({ description: 'Absent: the newest one.' }),
  to: addresses.optional(),
  include_attachments: z.boolean().optional().meta({ default: true }),
  ...contentFields,
});

export const previewBody = z.object({
  mailbox_id: z.uuid().optional().meta({ description: 'For a new mail.' }),
  conversation_id: z.uuid().optional().meta({ description: 'For an answer.' }),
  subject: z.string().optional(),
  ...replyFields,
  ...contentFields,
});

export function toComposeRequest(body: z.output<typeof composeBody>): ComposeRequest {
  return ComposeRequest.fromPartial({
    mailboxId: body.mailbox_id,
    to: body.to ?? [],
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    subject: body.subject ?? '',
    content: toContent(body),
  });
}

export function toReplyRequest(
  conversationId: string,
  body: z.output<typeof replyBody>,
): ReplyRequest {
  return ReplyRequest.fromPartial({
    conversationId,
    replyMode: body.reply_mode ?? 'sender',
    to: body.to ?? [],
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    quoteOriginal: body.quote_original ?? false,
    expectedLastMessageId: body.expected_last_message_id ?? undefined,
    content: toContent(body),
  });
}

export function toForwardRequest(
  conversationId: string,
  body: z.output<typeof forwardBody>,
): ForwardRequest {
  return ForwardRequest.fromPartial({
    conversationId,
    messageId: body.message_id ?? undefined,
    to: body.to ?? [],
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    includeAttachments: body.include_attachments ?? true,
    content: toContent(body),
  });
}

/** @throws RefusedError for what cannot be done yet and must not be left undone silently */
function toContent(body: ContentBody): Content {
  if (body.list_unsubscribe !== undefined && body.list_unsubscribe !== null) {
    throw unsupported('list_unsubscribe');
  }
  if (body.tracking?.opens === true || body.tracking?.clicks === true)
    throw unsupported('tracking');
  const window = body.send_window ?? undefined;
  return Content.fromPartial({
    bodyText: body.body_text ?? undefined,
    bodyHtml: body.body_html ?? undefined,
    templateId: body.template_id ?? undefined,
    templateVariablesJson: jsonField(body.template_variables ?? undefined),
    attachmentTokens: body.attachment_tokens ?? [],
    sendAt: sendAtOf(body) ?? undefined,
    sendWindow:
      window === undefined
        ? undefined
        : { timeZone: window.time_zone, days: window.days, from: window.from, to: window.to },
    cancelIfReply: body.cancel_if_reply ?? false,
    undoSeconds: body.undo_seconds ?? undefined,
    setsSignature: body.signature_id !== undefined,
    signatureId: body.signature_id ?? undefined,
    signaturePosition: body.signature_position,
    replyTo: body.reply_to ?? [],
    labels: body.labels ?? [],
    metadataJson:
      body.metadata === undefined ? undefined : Buffer.from(JSON.stringify(body.metadata)),
    encrypt: body.encrypt ?? false,
    requireApproval: body.require_approval ?? false,
    onBehalfOfRunId: body.on_behalf_of_run_id ?? undefined,
  });
}

/** @throws InvalidError when two names of the field disagree */
export function sendAtOf(
  body: Pick<ContentBody, 'send_at' | 'scheduled_at' | 'scheduled_for'>,
): string | null {
  const given = [body.send_at, body.scheduled_at, body.scheduled_for].filter(
    (value) => value !== undefined && value !== null,
  );
  if (new Set(given).size > 1) {
    throw new InvalidError(
      'send_at, scheduled_at and scheduled_for are names of one field and disagree: send only send_at.',
    );
  }
  return given[0] ?? null;
}

function unsupported(field: string): RefusedError {
  return new RefusedError(
    `${field} is not available yet. Leave it out to send without it.`,
    'not_available',
  );
}
