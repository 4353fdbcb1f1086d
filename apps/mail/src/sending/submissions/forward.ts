import { uuidv7 } from '@dak/kernel';
import { ForwardMail } from '@dak/contracts/api';
import type { Document, ForwardRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { loadConversation } from '../../conversations/visible-conversation-store';
import { findForwardedMessage } from './answered-message-store';
import { attachmentsOf } from './file-store';
import { fillTemplate } from './fill-template';
import { loadUploads, readFiles, type FileReference } from './load-files';
import { draftFields, listsAsSent } from './prepare-compose';
import { toQuote } from './prepare-reply';
import { prepareSubmission } from './prepare-submission';
import { recipientListsOf } from './recipient-lists';
import { replyReferences } from './reply-references';
import { loadSender, mailboxOf } from './sender-store';
import { storedAnswer } from './stored-answer';
import { forwardSubject } from './subject-prefix';
import { authorOf } from './submission-author';
import type { SubmissionDeps } from './submission-deps';
import { contentOf, mailRequestOf } from './submission-request';
import { undoSecondsOf } from './undo-seconds';

/**
 * Sends a message of the conversation on to others, below the note of the caller and with its files.
 * References name the original, so that an answer finds its way back into the conversation;
 * In-Reply-To does not, as a forward is not a reply.
 */
export async function forward(
  deps: SubmissionDeps,
  message: ForwardRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const reader = deps.readers(organizationId);
  const answeredBefore = await storedAnswer(reader, context);
  if (answeredBefore !== null) return answeredBefore;
  const request = parseRequest(ForwardMail, mailRequestOf(message));
  const asked = contentOf(request);
  const lists = recipientListsOf(request);
  const conversation = await loadConversation(reader, principal, message.conversationId, 'send');
  const { mailbox_id: mailboxId } = conversation;
  const findMailbox = mailboxOf(reader, organizationId, mailboxId);
  const sender = await loadSender(reader, principal, mailboxId, findMailbox, asked.signature);
  const { content, template } = await fillTemplate(reader, organizationId, asked);
  const { mailbox } = sender;
  const original = await findForwardedMessage(
    reader,
    organizationId,
    conversation.id,
    request.message_id ?? null,
  );
  const own: FileReference[] = request.include_attachments
    ? await attachmentsOf(reader, organizationId, original.id)
    : [];
  const uploads = await loadUploads(reader, principal, content.attachmentTokens, null);
  const references = [...own, ...uploads];
  const files = await readFiles(deps.blobs, organizationId, references);
  const now = deps.clock();
  const subject = forwardSubject(original.subject);
  const { references: chain } = replyReferences({
    messageId: original.message_id_header,
    inReplyTo: original.in_reply_to,
    references: original.reference_ids,
  });
  const prepared = await prepareSubmission({
    id: uuidv7(now),
    now,
    kind: 'forward',
    conversationId: conversation.id,
    sender,
    author: authorOf(principal, content.runId),
    lists,
    subject,
    content,
    template,
    quote: toQuote('forward', original),
    thread: { inReplyTo: null, references: chain },
    files: references.map((reference, index) => ({ reference, content: files[index]! })),
    defaultUndoSeconds: undoSecondsOf(principal, mailbox),
  });
  return deps.acceptor.accept({
    prepared,
    context,
    expectedLastMessageId: null,
    draftContent: {
      ...draftFields(content),
      kind: 'compose',
      reply_mode: null,
      ...listsAsSent(request),
      subject,
      // A draft has no forward: the quotation becomes part of its text.
      body_text: prepared.body.text,
      body_html: prepared.body.html,
      sets_signature: true,
      signature_id: null,
      quote_original: false,
    },
  });
}
