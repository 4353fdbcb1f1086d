import {
  BulkResultRecord,
  ChangeConversations,
  MergeConversations,
  SplitConversation,
} from '@dak/contracts/api';
import { MergeConversationsRequest, SplitConversationRequest } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';
import type { MailDirectory } from '../backend/mail-directory-store';
import { defineRoute, idParams, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { toChanges } from './conversation-changes';
import { resolveTarget } from './conversation-targets';
import { conversation } from './conversation-routes';
import type { MailClients } from './mail-clients';

const changes = {
  method: 'POST',
  tag: 'conversations',
  emits: ['conversation.updated'],
} as const;

/** Changes that concern several conversations. */
export function conversationSetRoutes(
  { conversations }: Pick<MailClients, 'conversations'>,
  directory: MailDirectory,
): Route[] {
  return [
    defineRoute({
      ...changes,
      path: '/conversations/{id}/merge',
      summary: 'Merge conversations',
      description: 'The oldest conversation remains and is returned.',
      request: { params: idParams, body: MergeConversations },
      responses: { 200: { description: 'The conversation that remains', schema: conversation } },
      handler: async ({ params, body, call }) => {
        const request = messageOf(MergeConversationsRequest, body, { id: params.id });
        return documentReply(200, await conversations.mergeConversations(request, call));
      },
    }),
    defineRoute({
      ...changes,
      path: '/conversations/{id}/split',
      summary: 'Split messages into a new conversation',
      request: { params: idParams, body: SplitConversation },
      responses: { 200: { description: 'The new conversation', schema: conversation } },
      handler: async ({ params, body, call }) => {
        const request = messageOf(SplitConversationRequest, body, { id: params.id });
        return documentReply(200, await conversations.splitConversation(request, call));
      },
    }),
    defineRoute({
      ...changes,
      path: '/conversations/bulk',
      summary: 'Update up to 100 conversations',
      description:
        'The action’s fields stand beside it. A conversation that is refused does not stop the others.',
      request: { body: ChangeConversations },
      responses: {
        200: { description: 'A result per conversation, in order', schema: BulkResultRecord },
      },
      handler: async ({ body, principal, call }) => {
        const target = body.action === 'assign' || body.action === 'update' ? body : {};
        const assignee = await resolveTarget(directory, principal.organizationId, target);
        const request = toChanges(body, assignee);
        return documentReply(200, await conversations.changeConversations(request, call));
      },
    }),
  ];
}
