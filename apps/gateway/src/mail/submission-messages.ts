import type { ComposeMail, ForwardMail, MailContent, ReplyMail } from '@dak/contracts/api';
import { ComposeRequest, Content, ForwardRequest, ReplyRequest } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';

type Recipients = Pick<ComposeMail, 'to' | 'cc' | 'bcc'>;

/** A mail as the mail service takes it: what all kinds share is a message inside. */
export function composeMessage({ mailbox_id, subject, ...mail }: ComposeMail): ComposeRequest {
  const { lists, content } = partsOf(mail);
  return messageOf(ComposeRequest, { mailbox_id, subject, ...lists }, { content });
}

export function replyMessage(
  conversationId: string,
  { reply_mode = 'sender', quote_original, expected_last_message_id, ...mail }: ReplyMail,
): ReplyRequest {
  const { lists, content } = partsOf(mail);
  const own = { reply_mode, quote_original, expected_last_message_id, ...lists };
  return messageOf(ReplyRequest, own, { conversationId, content });
}

export function forwardMessage(
  conversationId: string,
  { message_id, include_attachments, ...mail }: ForwardMail,
): ForwardRequest {
  const { lists, content } = partsOf(mail);
  const own = { message_id, include_attachments, ...lists };
  return messageOf(ForwardRequest, own, { conversationId, content });
}

function partsOf({ to, cc, bcc, ...shared }: Recipients & MailContent) {
  // Only values that ask for nothing pass the schema, and one name of the time is left.
  const { list_unsubscribe: _, tracking: _1, scheduled_at: _2, scheduled_for: _3, ...own } = shared;
  const setsSignature = own.signature_id !== undefined;
  return { lists: { to, cc, bcc }, content: messageOf(Content, own, { setsSignature }) };
}
