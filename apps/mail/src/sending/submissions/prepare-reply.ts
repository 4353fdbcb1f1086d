import { InvalidError, isUuid, RefusedError, uuidv7 } from '@dak/kernel';
import { Content, type ReplyRequest } from '@dak/contracts/mail';
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
import { draftFields, type PreparedRequest } from './prepare-compose';
import { prepareSubmission } from './prepare-submission';
import type { Quote } from './quote';
import { parseRecipientLists } from './recipient-lists';
import { REPLY_MODES, replyRecipients, type ReplyMode } from './reply-recipients';
import { replyReferences } from './reply-references';
import { loadSender, mailboxOf } from './sender-store';
import { replySubject } from './subject-prefix';
import { authorOf, type SubmissionAuthor } from './submission-author';
import type { SubmissionDeps } from './submission-deps';
import { assertNotEmpty, parseContent } from './submission-request';
import { undoSecondsOf } from './undo-seconds';

export interface PreparedReply extends PreparedRequest {
  readonly expectedLastMessageId: string | null;
}

/** An answer, checked and put together; nothing is stored. Needs `send` on the mailbox or the department. */
export async function prepareReply(
  deps: SubmissionDeps,
  request: ReplyRequest,
  { principal }: CallContext,
  draftId: string | null = null,
): Promise<PreparedReply> {
  const mode = parseReplyMode(request.replyMode);
  const asked = parseContent(request.content ?? Content.fromPartial({}));
  assertNotEmpty(asked);
  const extra = parseRecipientLists(request);
  const expected = request.expectedLastMessageId ?? null;
  if (expected !== null && !isUuid(expected)) {
    throw new InvalidError('expected_last_message_id must be the UUID of a message.');
  }
  const { organizationId } = principal;
  const reader = deps.readers(organizationId);
  const conversation = await loadConversation(reader, principal, request.conversationId, 'send');
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
    quote: request.quoteOriginal && answered !== null ? toQuote('reply', answered) : null,
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
    expectedLastMessageId: expected,
    draftContent: {
      ...draftFields(content),
      kind: 'reply',
      reply_mode: mode,
      to: request.to,
      cc: request.cc,
      bcc: request.bcc,
      subject: null,
      quote_original: request.quoteOriginal,
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

export function parseReplyMode(mode: string): ReplyMode {
  if (mode === '') return 'sender';
  const known = REPLY_MODES.find((name) => name === mode);
  if (known === undefined) {
    throw new InvalidError(`reply_mode must be one of ${REPLY_MODES.join(', ')}.`);
  }
  return known;
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
