import { InvalidError } from '@dak/kernel';
import { SubmissionPreview, SubmissionReceipt } from '@dak/contracts/api';
import type { Document, PreviewRequest } from '@dak/contracts/mail';
import { defineRoute, idParams, type Route, type RouteReply } from '../http';
import { documentReply } from '../http/document-reply';
import type { MailClients } from './mail-clients';
import {
  composeBody,
  forwardBody,
  previewBody,
  replyBody,
  toComposeRequest,
  toForwardRequest,
  toReplyRequest,
} from './submission-bodies';

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
      request: { body: composeBody },
      handler: async ({ body, call }) =>
        created(await submissions.compose(toComposeRequest(body), call)),
    }),
    defineRoute({
      ...sends,
      path: '/conversations/{id}/reply',
      tag: 'conversations',
      summary: 'Reply to a conversation',
      request: { params: idParams, body: replyBody },
      handler: async ({ params, body, call }) =>
        created(await submissions.reply(toReplyRequest(params.id, body), call)),
    }),
    defineRoute({
      ...sends,
      path: '/conversations/{id}/forward',
      tag: 'conversations',
      summary: 'Forward a message',
      request: { params: idParams, body: forwardBody },
      handler: async ({ params, body, call }) =>
        created(await submissions.forward(toForwardRequest(params.id, body), call)),
    }),
    defineRoute({
      method: 'POST',
      path: '/compose/preview',
      tag: 'compose',
      summary: 'Preview a message without sending it',
      description: 'The body of /compose/send, or of a reply with its conversation_id.',
      unknownFields: 'refuse',
      idempotency: 'none',
      request: { body: previewBody },
      responses: { 200: { description: 'The mail as it would leave', schema: SubmissionPreview } },
      handler: async ({ body, call }) => {
        const { json } = await submissions.preview({ kind: previewOf(body) }, call);
        return { status: 200, json };
      },
    }),
  ];
}

type PreviewFields = typeof previewBody._output;

function previewOf(body: PreviewFields): PreviewRequest['kind'] {
  const { mailbox_id, conversation_id, ...rest } = body;
  if ((mailbox_id === undefined) === (conversation_id === undefined)) {
    throw new InvalidError(
      'Send either mailbox_id, for a new mail, or conversation_id, for an answer.',
    );
  }
  return conversation_id === undefined
    ? { $case: 'compose', value: toComposeRequest({ ...rest, mailbox_id: mailbox_id! }) }
    : { $case: 'reply', value: toReplyRequest(conversation_id, rest) };
}

export function created(document: Document): RouteReply {
  return documentReply(201, document);
}
