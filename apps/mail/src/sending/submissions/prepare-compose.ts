import { uuidv7 } from '@dak/kernel';
import { formatRecipient, type ComposeMail } from '@dak/contracts/api';
import type { CallContext } from '@dak/platform/grpc';
import { requireMailbox } from '../../mailboxes/visibility-store';
import { fillTemplate } from './fill-template';
import { loadUploads, readFiles } from './load-files';
import { prepareSubmission, type PreparedSubmission } from './prepare-submission';
import { recipientListsOf } from './recipient-lists';
import { loadSender } from './sender-store';
import { authorOf } from './submission-author';
import type { SubmissionDeps } from './submission-deps';
import { assertNotEmpty, contentOf, type SubmissionContent } from './submission-request';
import type { DraftContent } from './submission-store';
import { undoSecondsOf } from './undo-seconds';

export interface PreparedRequest {
  readonly prepared: PreparedSubmission;
  readonly draftContent: DraftContent;
}

/** A new mail, checked and put together; nothing is stored. Needs the access level `send`. */
export async function prepareCompose(
  deps: SubmissionDeps,
  request: ComposeMail,
  { principal }: CallContext,
  draftId: string | null = null,
): Promise<PreparedRequest> {
  const asked = contentOf(request);
  const lists = recipientListsOf(request);
  const ownSubject = request.subject ?? '';
  assertNotEmpty(asked, ownSubject);
  const reader = deps.readers(principal.organizationId);
  const findMailbox = requireMailbox(reader, principal, request.mailbox_id, 'send');
  const { mailbox_id: mailboxId } = request;
  const sender = await loadSender(reader, principal, mailboxId, findMailbox, asked.signature);
  const { content, template, ...filled } = await fillTemplate(
    reader,
    principal.organizationId,
    asked,
  );
  const subject = ownSubject === '' ? filled.subject : ownSubject;
  const uploads = await loadUploads(reader, principal, content.attachmentTokens, draftId);
  const files = await readFiles(deps.blobs, principal.organizationId, uploads);
  const now = deps.clock();
  const prepared = await prepareSubmission({
    id: uuidv7(now),
    now,
    kind: 'compose',
    conversationId: null,
    sender,
    author: authorOf(principal, content.runId),
    lists,
    subject,
    content,
    template,
    quote: null,
    thread: { inReplyTo: null, references: [] },
    files: uploads.map((reference, index) => ({ reference, content: files[index]! })),
    defaultUndoSeconds: undoSecondsOf(principal, sender.mailbox),
  });
  return {
    prepared,
    draftContent: {
      ...draftFields(content),
      kind: 'compose',
      reply_mode: null,
      ...listsAsSent(request),
      subject,
      quote_original: false,
    },
  };
}

export function listsAsSent({
  to = [],
  cc = [],
  bcc = [],
}: Pick<ComposeMail, 'to' | 'cc' | 'bcc'>) {
  return { to, cc, bcc };
}

/** The part of a draft that every kind of mail has. */
export function draftFields(
  content: SubmissionContent,
): Omit<DraftContent, 'kind' | 'reply_mode' | 'to' | 'cc' | 'bcc' | 'subject' | 'quote_original'> {
  return {
    reply_to: content.replyTo.map(formatRecipient),
    body_text: content.bodyText,
    body_html: content.bodyHtml,
    sets_signature: content.signature.kind !== 'default',
    signature_id: content.signature.kind === 'chosen' ? content.signature.id : null,
    signature_position: content.signaturePosition,
    undo_seconds: content.sendTime.undoSeconds,
    labels: [...content.labels],
    metadata: content.metadata,
  };
}
