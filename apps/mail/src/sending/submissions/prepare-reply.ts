import { RefusedError, uuidv7 } from '@dak/kernel';
import type { ReplyMail } from '@dak/contracts/api';
import type { CallContext } from '@dak/platform/grpc';
import { loadConversation } from '../../conversations/visible-conversation-store';
import type { MailboxRow } from '../../mailboxes/mailbox-row';
import {
  findAnsweredMessage,
  readFollowupTo,
  usableRecipients,
  type AnsweredMessageRow,
} from './answered-message-store';
import { fillTemplate } from './fill-template';
import { loadUploads, readFiles } from './load-files';
import { draftFields, listsAsSent, type PreparedRequest } from './prepare-compose';
import { prepareSubmission } from './prepare-submission';
import type { Quote } from './quote';
import { recipientListsOf } from './recipient-lists';
import { replyRecipients } from './reply-recipients';
import { replyReferences } from './reply-references';
import { loadSender, mailboxOf } from './sender-store';
import { replySubject } from './subject-prefix';
import { authorOf, type SubmissionAuthor } from './submission-author';
import type { SubmissionDeps } from './submission-deps';
import { assertNotEmpty, contentOf } from './submission-request';
import { undoSecondsOf } from './undo-seconds';

export interface PreparedReply extends PreparedRequest {
  readonly expectedLastMessageId: string | null;
}

/** An answer, checked and put together; nothing is stored. Needs `send` on the mailbox or the department. */
export async function prepareReply(
  deps: SubmissionDeps,
  conversationId: string,
  request: ReplyMail,
  { principal }: CallContext,
  draftId: string | null = null,
): Promise<PreparedReply> {
  const { reply_mode: mode = 'sender', quote_original: quotes = false } = request;
  const asked = contentOf(request);
  assertNotEmpty(asked);
  const extra = recipientListsOf(request);
  const { organizationId } = principal;
  const reader = deps.readers(organizationId);
  const conversation = await loadConversation(reader, principal, conversationId, 'send');
  const { mailbox_id: mailboxId } = conversation;
  const findMailbox = mailboxOf(reader, organizationId, mailboxId);
  const sender = await loadSender(reader, principal, mailboxId, findMailbox, asked.signature);
  const { content, template } = await fillTemplate(reader, organizationId, asked);
  const { mailbox } = sender;
  const answered = await findAnsweredMessage(reader, organizationId, conversation.id);
  const author = authorOf(principal, content.runId);
  assertAnswerable(author, answered);
  const followupTo =
    mode === 'all' && answered !== null
      ? await readFollowupTo(deps.blobs, organizationId, answered)
      : [];
  const uploads = await loadUploads(reader, principal, content.attachmentTokens, draftId);
  const files = await readFiles(deps.blobs, organizationId, uploads);
  const now = deps.clock();
  const prepared = await prepareSubmission({
    id: uuidv7(now),
    now,
    kind: 'reply',
    conversationId: conversation.id,
    sender,
    author,
    lists: replyRecipients(
      mode,
      answered === null
        ? null
        : {
            direction: answered.direction,
            from:
              usableRecipients(answered.from_address === null ? [] : [answered.from_address])[0] ??
              null,
            replyTo: usableRecipients(answered.reply_to),
            to: usableRecipients(answered.to_addresses),
            cc: usableRecipients(answered.cc_addresses),
            followupTo,
          },
      extra,
      (email) => isAddressOf(mailbox, email),
    ),
    subject: replySubject(answered?.subject ?? conversation.subject),
    content,
    template,
    quote: quotes && answered !== null ? toQuote('reply', answered) : null,
    thread:
      answered === null
        ? { inReplyTo: null, references: [] }
        : replyReferences({
            messageId: answered.message_id_header,
            inReplyTo: answered.in_reply_to,
            references: answered.reference_ids,
          }),
    files: uploads.map((reference, index) => ({ reference, content: files[index]! })),
    defaultUndoSeconds: undoSecondsOf(principal, mailbox),
  });
  return {
    prepared,
    expectedLastMessageId: request.expected_last_message_id ?? null,
    draftContent: {
      ...draftFields(content),
      kind: 'reply',
      reply_mode: mode,
      ...listsAsSent(request),
      subject: null,
      quote_original: quotes,
    },
  };
}

export function toQuote(kind: Quote['kind'], message: AnsweredMessageRow): Quote {
  return {
    kind,
    from: usableRecipients(message.from_address === null ? [] : [message.from_address])[0] ?? null,
    to: usableRecipients(message.to_addresses),
    cc: usableRecipients(message.cc_addresses),
    subject: message.subject.replace(/\p{Cc}+/gu, ' '),
    date: message.sort_at,
    text: message.body_text ?? '',
    html: message.body_html,
  };
}

/** The mailbox's address, also with a detail after the local part (RFC 5233). */
function isAddressOf(mailbox: MailboxRow, email: string): boolean {
  const own = mailbox.address.toLowerCase();
  const other = email.toLowerCase();
  if (own === other) return true;
  const at = other.lastIndexOf('@');
  const plus = other.indexOf('+');
  return plus > 0 && plus < at && other.slice(0, plus) + other.slice(at) === own;
}

/** RFC 3834 §2: automatic mail is not answered automatically. */
function assertAnswerable(author: SubmissionAuthor, answered: AnsweredMessageRow | null): void {
  if (!author.isAutomatic || answered === null || answered.direction === 'outbound') return;
  const { flags, kind } = answered;
  if (
    flags.auto_generated === true ||
    flags.list_mail === true ||
    (kind !== null && kind !== 'human')
  ) {
    throw new RefusedError(
      'The message to answer is automatic or list mail, which must not be answered automatically. A person has to answer.',
      'loop_suspected',
    );
  }
}
