import { z } from 'zod';
import { BulkResultRecord } from '@dak/contracts/api';
import type { MailDirectory } from '../backend/mail-directory-store';
import { defineRoute, idParams, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { bulkBody, toBulkChange } from './conversation-bodies';
import { resolveTarget } from './conversation-targets';
import { conversation } from './conversations';
import type { MailClients } from './mail-clients';

const changes = {
  method: 'POST',
  tag: 'conversations',
  emits: ['conversation.updated'],
} as const;

/** Changes of more than one conversation at once. */
export function conversationSetRoutes(
  { conversations }: Pick<MailClients, 'conversations'>,
  directory: MailDirectory,
): Route[] {
  return [
    defineRoute({
      ...changes,
      path: '/conversations/{id}/merge',
      summary: 'Merge conversations',
      description: 'The oldest of them stays and is the answer.',
      request: {
        params: idParams,
        body: z.object({ source_ids: z.array(z.uuid()).min(1).max(50) }),
      },
      responses: { 200: { description: 'The conversation that stays', schema: conversation } },
      handler: async ({ params, body, call }) => {
        const request = { id: params.id, sourceIds: body.source_ids };
        return documentReply(200, await conversations.mergeConversations(request, call));
      },
    }),
    defineRoute({
      ...changes,
      path: '/conversations/{id}/split',
      summary: 'Split messages into a new conversation',
      request: {
        params: idParams,
        body: z.object({ message_ids: z.array(z.uuid()).min(1).max(1000) }),
      },
      responses: { 200: { description: 'The new conversation', schema: conversation } },
      handler: async ({ params, body, call }) => {
        const request = { id: params.id, messageIds: body.message_ids };
        return documentReply(200, await conversations.splitConversation(request, call));
      },
    }),
    defineRoute({
      ...changes,
      path: '/conversations/bulk',
      summary: 'Update up to 100 conversations',
      description:
        'The fields of the action stand beside it. What is refused for one conversation does not stop the others.',
      request: { body: bulkBody },
      responses: {
        200: { description: 'A result per conversation, in order', schema: BulkResultRecord },
      },
      handler: async ({ body, principal, call }) => {
        const target = body.action === 'assign' || body.action === 'update' ? body : {};
        const assignee = await resolveTarget(directory, principal.organizationId, target);
        const request = toBulkChange(body, assignee);
        return documentReply(200, await conversations.changeConversations(request, call));
      },
    }),
  ];
}
