import { uuidv7 } from '@dak/kernel';
import { Content, type ComposeRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { parseSubject } from '../../conversations/messages/parse-subject';
import { requireMailbox } from '../../mailboxes/visibility-store';
import { fillTemplate } from './fill-template';
import { loadUploads, readFiles } from './load-files';
import { prepareSubmission, type PreparedSubmission } from './prepare-submission';
import { formatRecipient } from './recipient';
import { parseRecipientLists } from './recipient-lists';
import { loadSender } from './sender-store';
import { authorOf } from './submission-author';
import type { SubmissionDeps } from './submission-deps';
import { assertNotEmpty, parseContent, type SubmissionContent } from './submission-request';
import type { DraftContent } from './submission-store';
import { undoSecondsOf } from './undo-seconds';

export interface PreparedRequest {
  readonly prepared: PreparedSubmission;
  readonly draftContent: DraftContent;
}

/** A new mail, checked and put together; nothing is stored. Needs the access level `send`. */
export async function prepareCompose(
  deps: SubmissionDeps,
  request: ComposeRequest,
  { principal }: CallContext,
  draftId: string | null = null,
): Promise<PreparedRequest> {
  const asked = parseContent(request.content ?? Content.fromPartial({}));
  const lists = parseRecipientLists(request);
  const ownSubject = parseSubject(request.subject);
  assertNotEmpty(asked, ownSubject);
  const reader = deps.readers(principal.organizationId);
  const findMailbox = requireMailbox(reader, principal, request.mailboxId, 'send');
  const { mailboxId } = request;
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
      to: request.to,
      cc: request.cc,
      bcc: request.bcc,
      subject,
      quote_original: false,
    },
  };
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
