import { z } from 'zod';
import { ActivityRecord, AddNote, MessageRecord } from '@dak/contracts/api';
import { AddNoteRequest, type Chunk } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';
import { namedIds, type MailDirectory } from '../backend/mail-directory-store';
import { defineRoute, idParams, pageFields, pageOf, queryBoolean, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import { attachmentDisposition } from './attachment-routes';
import type { MailClients } from './mail-clients';

const RAW_TIMEOUT_MS = 10 * 60_000;

const reads = { method: 'GET', tag: 'messages' } as const;
const messageParams = z.object({ id: z.uuid(), mid: z.uuid() });
const include = z.enum(['headers']).optional().meta({
  description: '`headers` adds all header fields as received.',
});

const message = MessageRecord.meta({ id: 'Message' });

export function messageRoutes(
  { conversations }: Pick<MailClients, 'conversations'>,
  directory: MailDirectory,
): Route[] {
  return [
    defineRoute({
      ...reads,
      path: '/conversations/{id}/messages',
      summary: 'List conversation messages',
      request: { params: idParams, query: z.object({ ...pageFields, include }) },
      responses: {
        200: { description: 'A page of messages and notes, oldest first', schema: pageOf(message) },
      },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          conversations.listMessages(
            {
              conversationId: params.id,
              page,
              includeHeaders: query.include === 'headers',
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...reads,
      path: '/conversations/{id}/messages/{mid}',
      summary: 'Get a message',
      request: {
        params: messageParams,
        query: z.object({
          include,
          raw_html: queryBoolean().optional().meta({
            type: 'boolean',
            description: 'body_html as received, not sanitized: never display it unprocessed.',
          }),
        }),
      },
      responses: { 200: { description: 'The message', schema: message } },
      handler: async ({ params, query, call }) => {
        const request = {
          conversationId: params.id,
          messageId: params.mid,
          includeHeaders: query.include === 'headers',
          rawHtml: query.raw_html ?? false,
        };
        return documentReply(200, await conversations.getMessage(request, call));
      },
    }),
    defineRoute({
      ...reads,
      path: '/conversations/{id}/messages/{mid}/raw',
      summary: 'Download the raw message',
      timeoutMs: RAW_TIMEOUT_MS,
      request: { params: messageParams },
      responses: {
        200: { description: 'The message (RFC 5322)', contentType: 'message/rfc822' },
      },
      handler: async ({ params, call }) => {
        const request = { conversationId: params.id, messageId: params.mid };
        return {
          status: 200,
          stream: await startedContent(conversations.getRawMessage(request, call)),
          headers: {
            'Content-Type': 'message/rfc822',
            'Content-Disposition': attachmentDisposition(`${params.mid}.eml`),
            'X-Content-Type-Options': 'nosniff',
            'Content-Security-Policy': "default-src 'none'; sandbox",
            'Cache-Control': 'private, no-store',
          },
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/conversations/{id}/notes',
      tag: 'messages',
      summary: 'Add an internal note',
      description: 'Visible to everyone who can see the conversation; never sent as mail.',
      request: { params: idParams, body: AddNote },
      responses: { 201: { description: 'The note', schema: message } },
      emits: ['conversation.updated'],
      handler: async ({ params, body, principal, call }) => {
        await directory.requireUsers(principal.organizationId, namedIds('mentions', body.mentions));
        const request = messageOf(AddNoteRequest, body, { conversationId: params.id });
        return documentReply(201, await conversations.addNote(request, call));
      },
    }),
    defineRoute({
      ...reads,
      path: '/conversations/{id}/activity',
      summary: 'List conversation activity',
      request: { params: idParams, query: z.object(pageFields) },
      responses: {
        200: { description: 'A page of activity, newest first', schema: pageOf(ActivityRecord) },
      },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          conversations.listActivity({ conversationId: params.id, page }, call),
        ),
    }),
  ];
}

/** Waits for the first bytes, so that a missing message gets a 404 and not a broken 200. */
async function startedContent(chunks: AsyncIterable<Chunk>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  return restOf(first, iterator);
}

async function* restOf(
  first: IteratorResult<Chunk>,
  iterator: AsyncIterator<Chunk>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) {
      yield next.value.content;
    }
  } finally {
    await iterator.return?.();
  }
}
