import { InvalidError } from '@dak/kernel';
import { excludedByTemplate, formatRecipient, UpdateDraft } from '@dak/contracts/api';
import type { ComposeRequest, ReplyRequest, UpdateDraftRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import { contentOf, mailRequestOf } from '../submissions/submission-request';
import type { DraftRow } from './draft';

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
export function fieldsOf(
  kind: DraftRow['kind'],
  message: Partial<ComposeRequest> | Partial<ReplyRequest> | undefined,
): DraftFields {
  const request = parseRequest(UpdateDraft, mailRequestOf(message ?? {}));
  const content = contentOf(request);
  const { signature } = content;
  const isReply = kind === 'reply';
  return {
    kind,
    reply_mode: isReply ? (request.reply_mode ?? 'sender') : null,
    to_recipients: request.to ?? [],
    cc_recipients: request.cc ?? [],
    bcc_recipients: request.bcc ?? [],
    reply_to: content.replyTo.map(formatRecipient),
    subject: isReply ? null : (request.subject ?? ''),
    body_text: content.bodyText,
    body_html: content.bodyHtml,
    template_id: content.templateId,
    template_variables: content.templateVariables,
    attachment_tokens: [...content.attachmentTokens],
    sets_signature: signature.kind !== 'default',
    signature_id: signature.kind === 'chosen' ? signature.id : null,
    signature_position: request.signature_position ?? null,
    send_at: content.sendTime.sendAt,
    send_window: content.sendTime.window,
    cancel_if_reply: content.cancelIfReply,
    undo_seconds: content.sendTime.undoSeconds,
    quote_original: isReply && (request.quote_original ?? false),
    expected_last_message_id: (isReply && request.expected_last_message_id) || null,
    labels: [...content.labels],
    metadata: content.metadata,
  };
}

/** The columns of fields that are not called as they are. */
const COLUMNS: Readonly<Record<string, readonly (keyof DraftFields)[]>> = {
  to: ['to_recipients'],
  cc: ['cc_recipients'],
  bcc: ['bcc_recipients'],
  signature_id: ['sets_signature', 'signature_id'],
};

/**
 * The draft with the fields that the caller sent.
 * @throws InvalidError when a field does not belong to this kind of draft
 */
export function withFields(row: DraftRow, request: UpdateDraftRequest): DraftRow {
  const sent = new Map(
    Object.entries(fieldsOf(row.kind, row.kind === 'compose' ? request.compose : request.reply)),
  );
  const next: DraftRow = { ...row };
  for (const field of request.fields) {
    if (field === 'subject' && row.kind === 'reply') {
      throw new InvalidError('subject cannot be changed in the draft of a reply. Leave it out.');
    }
    for (const column of COLUMNS[field] ?? [field]) {
      if (sent.has(column)) Object.assign(next, { [column]: sent.get(column) });
    }
  }
  const excluded = excludedByTemplate(next);
  if (excluded !== null) throw new InvalidError(`template_id ${excluded}`);
  // Values of a template that is not named any more mean nothing.
  return next.template_id === null ? { ...next, template_variables: null } : next;
}

/** The draft as the mail or the answer that sending it asks for. */
export function requestOfDraft(row: DraftRow): Record<string, unknown> {
  const { send_window: window } = row;
  return {
    ...row,
    to: row.to_recipients,
    cc: row.cc_recipients,
    bcc: row.bcc_recipients,
    subject: row.subject ?? '',
    reply_mode: row.reply_mode ?? undefined,
    send_window:
      window === null
        ? null
        : { time_zone: window.timeZone, days: window.days, from: window.from, to: window.to },
    signature_id: row.sets_signature ? row.signature_id : undefined,
    signature_position: row.signature_position ?? undefined,
  };
}
