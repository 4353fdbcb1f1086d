import { z } from 'zod';
import {
  AssignConversation,
  ChangeLabels,
  ConversationRecord,
  ListConversations,
  SnoozeConversation,
  UpdateConversation,
} from '@dak/contracts/api';
import { ChangeLabelsRequest, SnoozeConversationRequest } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';
import type { MailDirectory } from '../backend/mail-directory-store';
import { defineRoute, idParams, pageFields, pageOf, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import { toAssignment, toUpdate } from './conversation-changes';
import { toConversationFilter } from './conversation-filter';
import { resolveTarget } from './conversation-targets';
import type { MailClients } from './mail-clients';

const reads = { tag: 'conversations' } as const;
const changes = {
  tag: 'conversations',
  emits: ['conversation.updated'],
} as const;

export const conversation = ConversationRecord.meta({ id: 'Conversation' });
const one = { 200: { description: 'The conversation', schema: conversation } };

export function conversationRoutes(
  { conversations }: Pick<MailClients, 'conversations'>,
  directory: MailDirectory,
): Route[] {
  return [
    defineRoute({
      ...reads,
      method: 'GET',
      path: '/conversations',
      summary: 'List conversations',
      request: { query: z.object({ ...pageFields, ...ListConversations.shape }) },
      responses: {
        200: { description: 'A page of conversations', schema: pageOf(conversation) },
      },
      handler: ({ query, call, url }) =>
        servicePage({ query, url }, (page) =>
          conversations.listConversations(
            {
              page,
              filter: toConversationFilter(query, query.q),
              sort: query.sort ?? '',
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...reads,
      method: 'GET',
      path: '/conversations/{id}',
      summary: 'Get a conversation',
      description: 'A merged conversation has merged_into_id.',
      request: { params: idParams },
      responses: one,
      handler: async ({ params, call }) =>
        documentReply(200, await conversations.getConversation({ id: params.id }, call)),
    }),
    defineRoute({
      ...changes,
      method: 'PATCH',
      path: '/conversations/{id}',
      summary: 'Update a conversation',
      versioned: true,
      request: { params: idParams, body: UpdateConversation },
      responses: one,
      handler: async ({ params, body, principal, ifMatch, call }) => {
        await resolveTarget(directory, principal.organizationId, body);
        const request = toUpdate(body, {
          id: params.id,
          expectedVersion: ifMatch ?? undefined,
        });
        return documentReply(200, await conversations.updateConversation(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'POST',
      path: '/conversations/{id}/labels',
      summary: 'Add or remove labels',
      request: { params: idParams, body: ChangeLabels },
      responses: {
        200: {
          description: 'The labels after the change',
          schema: z.object({ labels: z.array(z.string()) }),
        },
      },
      handler: async ({ params, body, call }) => {
        const request = messageOf(ChangeLabelsRequest, body, { id: params.id });
        return documentReply(200, await conversations.changeLabels(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'POST',
      path: '/conversations/{id}/snooze',
      summary: 'Snooze a conversation',
      request: { params: idParams, body: SnoozeConversation.prefault({}) },
      responses: one,
      handler: async ({ params, body, call }) => {
        const request = messageOf(SnoozeConversationRequest, body, { id: params.id });
        return documentReply(200, await conversations.snoozeConversation(request, call));
      },
    }),
    defineRoute({
      ...changes,
      method: 'DELETE',
      path: '/conversations/{id}/snooze',
      summary: 'Wake a snoozed conversation',
      request: { params: idParams },
      responses: { 204: { description: 'Awake' } },
      handler: async ({ params, call }) => {
        await conversations.unsnoozeConversation({ id: params.id }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...changes,
      method: 'POST',
      path: '/conversations/{id}/assign',
      summary: 'Assign a conversation',
      request: { params: idParams, body: AssignConversation },
      responses: one,
      handler: async ({ params, body, principal, call }) => {
        const assignee = await resolveTarget(directory, principal.organizationId, body);
        const request = toAssignment(body, { id: params.id, assignee });
        return documentReply(200, await conversations.assignConversation(request, call));
      },
    }),
  ];
}
