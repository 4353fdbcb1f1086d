import { z } from 'zod';
import { InvalidError } from '@dak/kernel';
import { DraftRecord, SubmissionReceipt } from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { servicePageReply, toPageRequest } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { previewBody, toComposeRequest, toReplyRequest } from './submission-bodies';
import { created } from './submissions';

const common = { tag: 'drafts' } as const;
const draft = { 200: { description: 'The draft', schema: DraftRecord } };

/** As the body of a mail, or with conversation_id of an answer; recipients may be incomplete. */
const draftBody = previewBody;
const { mailbox_id, conversation_id, ...changeable } = previewBody.shape;
const changeBody = z.object({ mailbox_id, ...changeable });

export function draftRoutes({ drafts }: Pick<MailClients, 'drafts'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/drafts',
      summary: 'List drafts',
      request: {
        query: z.object({
          ...pageFields,
          mailbox: z.uuid().optional(),
          conversation: z.uuid().optional(),
        }),
      },
      responses: {
        200: { description: 'A page of drafts, last changed first', schema: pageOf(DraftRecord) },
      },
      handler: async ({ query, call, url }) => {
        const request = {
          page: toPageRequest(query),
          mailboxId: query.mailbox,
          conversationId: query.conversation,
        };
        return servicePageReply(url, query, await drafts.listDrafts(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/drafts',
      summary: 'Create a draft',
      description: 'With mailbox_id for a new mail, with conversation_id for an answer.',
      unknownFields: 'refuse',
      request: { body: draftBody },
      responses: { 201: { description: 'The draft', schema: DraftRecord } },
      handler: async ({ body, call }) => {
        const { mailbox_id: mailboxId, conversation_id: conversationId, ...rest } = body;
        if ((mailboxId === undefined) === (conversationId === undefined)) {
          throw new InvalidError(
            'Send either mailbox_id, for a new mail, or conversation_id, for an answer.',
          );
        }
        const request =
          conversationId === undefined
            ? { compose: toComposeRequest({ ...rest, mailbox_id: mailboxId! }) }
            : { reply: toReplyRequest(conversationId, rest) };
        return created(await drafts.createDraft(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/drafts/{id}',
      summary: 'Get a draft',
      request: { params: idParams },
      responses: draft,
      handler: async ({ params, call }) => {
        const { json, version } = await drafts.getDraft({ id: params.id }, call);
        return { status: 200, json, version };
      },
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/drafts/{id}',
      summary: 'Update a draft',
      unknownFields: 'refuse',
      versioned: true,
      request: { params: idParams, body: changeBody },
      responses: draft,
      handler: async ({ params, body, ifMatch, call }) => {
        const { mailbox_id: mailboxId, ...rest } = body;
        const { json, version } = await drafts.updateDraft(
          {
            id: params.id,
            expectedVersion: ifMatch ?? undefined,
            fields: fieldsOf(body),
            compose: toComposeRequest({ ...rest, mailbox_id: mailboxId ?? '' }),
            reply: toReplyRequest('', rest),
          },
          call,
        );
        return { status: 200, json, version };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/drafts/{id}',
      summary: 'Delete a draft',
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, call }) => {
        await drafts.deleteDraft({ id: params.id }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/drafts/{id}/send',
      summary: 'Send a draft',
      versioned: true,
      request: { params: idParams },
      responses: { 201: { description: 'Queued or sent', schema: SubmissionReceipt } },
      emits: ['conversation.updated', 'mail.sent', 'mail.failed'],
      handler: async ({ params, ifMatch, call }) => {
        const request = { id: params.id, expectedVersion: ifMatch ?? undefined };
        return created(await drafts.sendDraft(request, call));
      },
    }),
  ];
}

/** The names of the fields sent, aliases under their one name. */
function fieldsOf(body: object): string[] {
  const names = Object.entries(body).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  return [...new Set(names.map((name) => (/^scheduled_(at|for)$/.test(name) ? 'send_at' : name)))];
}
