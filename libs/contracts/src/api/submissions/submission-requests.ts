import { z } from 'zod';
import {
  closedShape,
  fault,
  fewMembers,
  fitsJson,
  idShape,
  longTextShape,
  MAX_METADATA_KEYS,
} from '../../requests';
import { labelShape, MAX_LABELS } from '../labels/label-requests';
import { recipientList } from './recipient';
import { agreesOnSendAt, ONE_SEND_AT, oneSendAt, sendAtFields, sendWindowShape } from './send-time';
import { subjectShape } from './subject';
import { SUBMISSION_LIMITS } from './submission-limits';

export const REPLY_MODES = ['sender', 'all', 'custom'] as const;
export const SIGNATURE_POSITIONS = ['above_quote', 'end'] as const;

const {
  attachments_per_message: MAX_FILES,
  mail_body_bytes: MAX_BODY_BYTES,
  recipients_per_message: MAX_RECIPIENTS,
} = SUBMISSION_LIMITS;
const MAX_VARIABLES_BYTES = 256 * 1024;
const MAX_VARIABLES = 1000;
const MAX_UNDO_SECONDS = 120;

const TOO_LONG = 'Attach long content as a file.';
const UNAVAILABLE = fault<'refused'>(
  'not_available',
  'is not available yet. Leave it out to send without it.',
  'refused',
);

const addresses = recipientList();
const body = longTextShape(MAX_BODY_BYTES, 'body_too_large', TOO_LONG).nullish();

/** What every kind of mail has, apart from its recipients. Without defaults: a patch must not have any. */
export const contentFields = {
  body_text: body,
  body_html: body,
  template_id: idShape.nullish().meta({
    description:
      'Provides the body, and the subject of a new mail that has none. Cannot be combined with body_text or body_html.',
  }),
  template_variables: fewMembers(MAX_VARIABLES, z.record(z.string(), z.unknown()))
    .refine(
      (values) => fitsJson(values, MAX_VARIABLES_BYTES),
      fault<'too_large'>(
        'body_too_large',
        `must not be larger than ${MAX_VARIABLES_BYTES} bytes. ${TOO_LONG}`,
        'too_large',
      ),
    )
    .nullish()
    .meta({ description: 'The template’s variables, by name.' }),
  attachment_tokens: z
    .array(z.string().max(200))
    .max(200)
    .refine((tokens) => tokens.length <= MAX_FILES, `must name at most ${MAX_FILES} files.`)
    .overwrite((tokens) => [...new Set(tokens)])
    .optional(),
  encrypt: z.boolean().optional(),
  ...sendAtFields,
  send_window: sendWindowShape.nullish().meta({
    description: 'The mail waits until this window next opens.',
  }),
  cancel_if_reply: z.boolean().optional().meta({
    description: 'Cancels mail still on hold if the other side replies first.',
  }),
  undo_seconds: z.int().min(0).max(MAX_UNDO_SECONDS).nullish().meta({
    description:
      'Seconds during which sending can be undone. Default: the mailbox setting for sessions, 0 for API keys.',
  }),
  signature_id: idShape.nullish().meta({
    description: 'Absent: the mailbox default; null: none.',
  }),
  signature_position: z.enum(SIGNATURE_POSITIONS).optional(),
  reply_to: recipientList(MAX_RECIPIENTS).optional(),
  labels: z
    .array(labelShape)
    .max(MAX_LABELS)
    .overwrite((names) => [...new Set(names)])
    .optional(),
  metadata: fewMembers(
    MAX_METADATA_KEYS,
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  ).optional(),
  list_unsubscribe: z
    .unknown()
    .refine((value) => value === undefined || value === null, UNAVAILABLE)
    .optional()
    .meta({ description: 'Not available yet; only null is accepted.' }),
  tracking: closedShape({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
    .refine(({ opens, clicks }) => opens !== true && clicks !== true, UNAVAILABLE)
    .nullish()
    .meta({ description: 'Not available yet; only false is accepted.' }),
  require_approval: z.boolean().optional(),
  on_behalf_of_run_id: idShape.nullish(),
};

/** The fields of an answer beside its recipients. */
export const replyFields = {
  reply_mode: z.enum(REPLY_MODES).optional(),
  quote_original: z.boolean().optional(),
  expected_last_message_id: idShape.nullish().meta({
    description: 'ID of the newest message you have seen; 409 if another has arrived since.',
  }),
};

const recipients = {
  to: addresses.optional(),
  cc: addresses.optional(),
  bcc: addresses.optional(),
};
const replyRecipients = {
  ...recipients,
  to: addresses.optional().meta({ description: 'Only with reply_mode "custom".' }),
};

/** A mail with these fields, which fit together; its time is `send_at`. */
export function mailShape<Shape extends typeof contentFields>(shape: Shape) {
  return z
    .object(shape)
    .superRefine((body, context) => {
      const content = body as unknown as MailContent;
      if (!agreesOnSendAt(content)) context.addIssue({ code: 'custom', message: ONE_SEND_AT });
      const message = excludedByTemplate(content);
      if (message !== null) context.addIssue({ code: 'custom', path: ['template_id'], message });
    })
    .overwrite((body) => oneSendAt(body as MailContent) as typeof body);
}

/** Why a template does not go with the bodies, read on after `template_id`; null when it does. */
export function excludedByTemplate(
  content: Pick<MailContent, 'template_id' | 'body_text' | 'body_html'>,
): string | null {
  if (typeof content.template_id !== 'string') return null;
  const body = (['body_text', 'body_html'] as const).find(
    (name) => typeof content[name] === 'string',
  );
  return body === undefined
    ? null
    : `and ${body} exclude each other: the template makes the text. Leave one of them out.`;
}

/** A new mail names its mailbox, an answer its conversation. */
export const originFields = {
  mailbox_id: idShape.optional().meta({ description: 'For a new mail.' }),
  conversation_id: idShape.optional().meta({ description: 'For an answer.' }),
};
export const ONE_ORIGIN =
  'Send either mailbox_id, for a new mail, or conversation_id, for an answer.';

export function hasOneOrigin(body: { mailbox_id?: unknown; conversation_id?: unknown }): boolean {
  return (body.mailbox_id === undefined) !== (body.conversation_id === undefined);
}

export const ComposeMail = mailShape({
  mailbox_id: idShape,
  subject: subjectShape.optional(),
  ...recipients,
  ...contentFields,
});

export const ReplyMail = mailShape({ ...replyRecipients, ...replyFields, ...contentFields });

export const ForwardMail = mailShape({
  message_id: idShape.nullish().meta({ description: 'Default: the newest message.' }),
  include_attachments: z.boolean().default(true),
  ...recipients,
  ...contentFields,
});

export const PreviewMail = mailShape({
  ...originFields,
  subject: subjectShape.optional(),
  ...replyRecipients,
  ...replyFields,
  ...contentFields,
}).refine(hasOneOrigin, ONE_ORIGIN);

export type MailContent = z.output<z.ZodObject<typeof contentFields>>;
export type ComposeMail = z.output<typeof ComposeMail>;
export type ReplyMail = z.output<typeof ReplyMail>;
export type ForwardMail = z.output<typeof ForwardMail>;
export type PreviewMail = z.output<typeof PreviewMail>;
