import {
  ComposeMail,
  ForwardMail,
  PreviewMail,
  ReplyMail,
  SubmissionPreview,
  SubmissionReceipt,
} from '@dak/contracts/api';
import type { Document, PreviewRequest } from '@dak/contracts/mail';
import { defineRoute, idParams, type Route, type RouteReply } from '../http';
import { documentReply } from '../http/document-reply';
import type { MailClients } from './mail-clients';
import { composeMessage, forwardMessage, replyMessage } from './submission-messages';

const sends = {
  method: 'POST',
  // A mistyped send_at must not send now.
  unknownFields: 'refuse',
  responses: { 201: { description: 'Queued or sent', schema: SubmissionReceipt } },
  emits: ['conversation.updated', 'mail.sent', 'mail.failed'],
} as const;

export function submissionRoutes({ submissions }: Pick<MailClients, 'submissions'>): Route[] {
  return [
    defineRoute({
      ...sends,
      path: '/compose/send',
      tag: 'compose',
      summary: 'Send or schedule a new email',
      request: { body: ComposeMail },
      handler: async ({ body, call }) =>
        created(await submissions.compose(composeMessage(body), call)),
    }),
    defineRoute({
      ...sends,
      path: '/conversations/{id}/reply',
      tag: 'conversations',
      summary: 'Reply to a conversation',
      request: { params: idParams, body: ReplyMail },
      handler: async ({ params, body, call }) =>
        created(await submissions.reply(replyMessage(params.id, body), call)),
    }),
    defineRoute({
      ...sends,
      path: '/conversations/{id}/forward',
      tag: 'conversations',
      summary: 'Forward a message',
      request: { params: idParams, body: ForwardMail },
      handler: async ({ params, body, call }) =>
        created(await submissions.forward(forwardMessage(params.id, body), call)),
    }),
    defineRoute({
      method: 'POST',
      path: '/compose/preview',
      tag: 'compose',
      summary: 'Preview a message without sending it',
      description: 'The body of /compose/send, or that of a reply plus its conversation_id.',
      unknownFields: 'refuse',
      idempotency: 'none',
      request: { body: PreviewMail },
      responses: {
        200: { description: 'The mail as it would be sent', schema: SubmissionPreview },
      },
      handler: async ({ body, call }) => {
        const { json } = await submissions.preview({ kind: previewOf(body) }, call);
        return { status: 200, json };
      },
    }),
  ];
}

/** The schema lets one of the ids through. */
function previewOf({
  mailbox_id = '',
  conversation_id,
  ...mail
}: PreviewMail): PreviewRequest['kind'] {
  return conversation_id === undefined
    ? { $case: 'compose', value: composeMessage({ ...mail, mailbox_id }) }
    : { $case: 'reply', value: replyMessage(conversation_id, mail) };
}

export function created(document: Document): RouteReply {
  return documentReply(201, document);
}
