import { type Actor, uuidv7 } from '@dak/kernel';
import type { ConversationRow } from '../conversation-row';
import type { NewMessage } from './new-message';

const PREVIEW = 200;

/** A comment between colleagues: stored beside the mail, never sent. */
export function noteMessage(
  conversation: Pick<ConversationRow, 'id' | 'mailbox_id' | 'subject' | 'base_subject'>,
  bodyText: string,
  mentions: readonly string[],
  author: Actor,
  now: number,
): NewMessage {
  return {
    id: uuidv7(now),
    mailboxId: conversation.mailbox_id,
    conversation: { kind: 'existing', id: conversation.id },
    direction: 'internal_note',
    status: 'received',
    kind: null,
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: conversation.subject,
    baseSubject: conversation.base_subject,
    bodyText,
    bodyHtml: null,
    textNew: bodyText,
    htmlNew: null,
    extraction: null,
    preview: [...bodyText.replace(/\s+/g, ' ').trim()].slice(0, PREVIEW).join(''),
    messageIdHeader: null,
    inReplyTo: null,
    references: [],
    authentication: null,
    flags: {},
    safety: null,
    author,
    mentions: [...mentions],
    unread: false,
    labels: [],
    rawSha256: null,
    sizeBytes: Buffer.byteLength(bodyText),
    dedupeKey: null,
    sortAt: new Date(now).toISOString(),
    sendAt: null,
    sentAt: null,
    receivedAt: null,
    attachments: [],
    imported: false,
  };
}
