import { z } from 'zod';
import { CreateDraft, DraftRecord, SubmissionReceipt, UpdateDraft } from '@dak/contracts/api';
import { sentFields } from '@dak/contracts/requests';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { composeMessage, replyMessage } from './submission-messages';
import { created } from './submission-routes';

const common = { tag: 'drafts' } as const;
const draft = { 200: { description: 'The draft', schema: DraftRecord } };

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
        200: {
          description: 'A page of drafts, most recently changed first',
          schema: pageOf(DraftRecord),
        },
      },
      handler: ({ query, call, url }) =>
        servicePage({ query, url }, (page) =>
          drafts.listDrafts(
            {
              page,
              mailboxId: query.mailbox,
              conversationId: query.conversation,
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/drafts',
      summary: 'Create a draft',
      description: 'Send mailbox_id for a new mail, conversation_id for a reply.',
      unknownFields: 'refuse',
      request: { body: CreateDraft },
      responses: { 201: { description: 'The draft', schema: DraftRecord } },
      handler: async ({ body, call }) => {
        const { mailbox_id = '', conversation_id, ...mail } = body;
        const request =
          conversation_id === undefined
            ? { compose: composeMessage({ ...mail, mailbox_id }) }
            : { reply: replyMessage(conversation_id, mail) };
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
      request: { params: idParams, body: UpdateDraft },
      responses: draft,
      handler: async ({ params, body, ifMatch, call }) => {
        const { mailbox_id = '', ...mail } = body;
        const { json, version } = await drafts.updateDraft(
          {
            id: params.id,
            expectedVersion: ifMatch ?? undefined,
            fields: sentFields(UpdateDraft.shape, body),
            compose: composeMessage({ ...mail, mailbox_id }),
            reply: replyMessage('', mail),
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
