import { InvalidError } from '@dak/kernel';
import {
  ComposeRequest,
  Content,
  ReplyRequest,
  SendWindow,
  type UpdateDraftRequest,
} from '@dak/contracts/mail';
import { parseSubject } from '../../conversations/messages/parse-subject';
import { parseReplyMode } from '../submissions/prepare-reply';
import { assertHeaderSafe, formatRecipient } from '../submissions/recipient';
import { MAX_RECIPIENTS } from '../submissions/recipient-lists';
import { assertNoBodies, parseContent } from '../submissions/submission-request';
import type { DraftRow } from './draft';

const MAX_RECIPIENT_LENGTH = 600;

/** The columns that a request for mail fills; addresses may still be incomplete. */
export type DraftFields = Omit<
  DraftRow,
  | 'id'
  | 'mailbox_id'
  | 'conversation_id'
  | 'author_type'
  | 'author_id'
  | 'author_name'
  | 'version'
  | 'created_at'
  | 'updated_at'
>;

/** @throws InvalidError naming the field */
export function fieldsOfCompose(request: ComposeRequest): DraftFields {
  return {
    ...fieldsOfContent(request.content),
    ...listsOf(request),
    kind: 'compose',
    reply_mode: null,
    subject: parseSubject(request.subject),
    quote_original: false,
    expected_last_message_id: null,
  };
}

/** @throws InvalidError naming the field */
export function fieldsOfReply(request: ReplyRequest): DraftFields {
  return {
    ...fieldsOfContent(request.content),
    ...listsOf(request),
    kind: 'reply',
    reply_mode: parseReplyMode(request.replyMode),
    subject: null,
    quote_original: request.quoteOriginal,
    expected_last_message_id: request.expectedLastMessageId ?? null,
  };
}

/** API field → columns. */
const COLUMNS_OF_FIELD: Readonly<Record<string, readonly (keyof DraftFields)[]>> = {
  to: ['to_recipients'],
  cc: ['cc_recipients'],
  bcc: ['bcc_recipients'],
  reply_to: ['reply_to'],
  subject: ['subject'],
  body_text: ['body_text'],
  body_html: ['body_html'],
  template_id: ['template_id'],
  template_variables: ['template_variables'],
  attachment_tokens: ['attachment_tokens'],
  signature_id: ['sets_signature', 'signature_id'],
  signature_position: ['signature_position'],
  send_at: ['send_at'],
  send_window: ['send_window'],
  cancel_if_reply: ['cancel_if_reply'],
  undo_seconds: ['undo_seconds'],
  labels: ['labels'],
  metadata: ['metadata'],
  reply_mode: ['reply_mode'],
  quote_original: ['quote_original'],
  expected_last_message_id: ['expected_last_message_id'],
};

/**
 * The draft with the fields that the caller sent.
 * @throws InvalidError when a field does not belong to this kind of draft
 */
export function withFields(row: DraftRow, request: UpdateDraftRequest): DraftRow {
  const sent =
    row.kind === 'compose'
      ? fieldsOfCompose(request.compose ?? ComposeRequest.fromPartial({}))
      : fieldsOfReply(request.reply ?? ReplyRequest.fromPartial({}));
  const next: DraftRow = { ...row };
  for (const field of request.fields) {
    if (field === 'subject' && row.kind === 'reply') {
      throw new InvalidError('subject cannot be changed in the draft of a reply. Leave it out.');
    }
    for (const column of COLUMNS_OF_FIELD[field] ?? []) {
      Object.assign(next, { [column]: sent[column] });
    }
  }
  assertNoBodies(next.template_id, next.body_text, next.body_html);
  // Values of a template that is not named any more mean nothing.
  return next.template_id === null ? { ...next, template_variables: null } : next;
}

/** The request that sending the draft is. */
export function composeOf(row: DraftRow): ComposeRequest {
  return ComposeRequest.fromPartial({
    mailboxId: row.mailbox_id,
    to: row.to_recipients,
    cc: row.cc_recipients,
    bcc: row.bcc_recipients,
    subject: row.subject ?? '',
    content: contentOf(row),
  });
}

export function replyOf(row: DraftRow): ReplyRequest {
  return ReplyRequest.fromPartial({
    conversationId: row.conversation_id ?? '',
    replyMode: row.reply_mode ?? 'sender',
    to: row.to_recipients,
    cc: row.cc_recipients,
    bcc: row.bcc_recipients,
    quoteOriginal: row.quote_original,
    expectedLastMessageId: row.expected_last_message_id ?? undefined,
    content: contentOf(row),
  });
}

function contentOf(row: DraftRow): Content {
  return Content.fromPartial({
    bodyText: row.body_text ?? undefined,
    bodyHtml: row.body_html ?? undefined,
    templateId: row.template_id ?? undefined,
    templateVariablesJson:
      row.template_variables === null
        ? undefined
        : Buffer.from(JSON.stringify(row.template_variables)),
    attachmentTokens: row.attachment_tokens,
    sendAt: row.send_at ?? undefined,
    sendWindow: row.send_window === null ? undefined : SendWindow.fromPartial(row.send_window),
    cancelIfReply: row.cancel_if_reply,
    undoSeconds: row.undo_seconds ?? undefined,
    setsSignature: row.sets_signature,
    signatureId: row.signature_id ?? undefined,
    signaturePosition: row.signature_position ?? undefined,
    replyTo: row.reply_to,
    labels: row.labels,
    metadataJson: Buffer.from(JSON.stringify(row.metadata)),
  });
}

function fieldsOfContent(
  request: Content | undefined,
): Omit<
  DraftFields,
  | 'kind'
  | 'reply_mode'
  | 'to_recipients'
  | 'cc_recipients'
  | 'bcc_recipients'
  | 'subject'
  | 'quote_original'
  | 'expected_last_message_id'
> {
  const content = parseContent(request ?? Content.fromPartial({}));
  const { sendAt, window, undoSeconds } = content.sendTime;
  if (sendAt !== null && Number.isNaN(Date.parse(sendAt))) {
    throw new InvalidError('send_at must be an RFC 3339 date-time such as 2027-01-31T09:00:00Z.');
  }
  return {
    body_text: content.bodyText,
    body_html: content.bodyHtml,
    template_id: content.templateId,
    template_variables: content.templateVariables,
    attachment_tokens: [...content.attachmentTokens],
    sets_signature: content.signature.kind !== 'default',
    signature_id: content.signature.kind === 'chosen' ? content.signature.id : null,
    signature_position: request?.signaturePosition ?? null,
    send_at: sendAt === null ? null : new Date(sendAt).toISOString(),
    send_window: window === null ? null : { ...window, days: [...window.days] },
    cancel_if_reply: content.cancelIfReply,
    undo_seconds: undoSeconds,
    reply_to: content.replyTo.map(formatRecipient),
    labels: [...content.labels],
    metadata: content.metadata,
  };
}

function listsOf(request: {
  to: string[];
  cc: string[];
  bcc: string[];
}): Pick<DraftFields, 'to_recipients' | 'cc_recipients' | 'bcc_recipients'> {
  for (const field of ['to', 'cc', 'bcc'] as const) {
    const list = request[field];
    if (list.length > MAX_RECIPIENTS) {
      throw new InvalidError(`${field} must not name more than ${MAX_RECIPIENTS} recipients.`);
    }
    list.forEach((text, index) => {
      assertHeaderSafe(text, `${field}[${index}]`);
      if (text.length > MAX_RECIPIENT_LENGTH) {
        throw new InvalidError(
          `${field}[${index}] must not be longer than ${MAX_RECIPIENT_LENGTH} characters.`,
        );
      }
    });
  }
  return { to_recipients: request.to, cc_recipients: request.cc, bcc_recipients: request.bcc };
}
