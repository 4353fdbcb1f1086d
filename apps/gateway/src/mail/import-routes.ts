import { ImportRecord } from '@dak/contracts/api';
import type { ImportRequest } from '@dak/contracts/mail';
import { defineRoute, idParams, type Route } from '../http';
import type { MailClients } from './mail-clients';

/** An archive of years of mail. */
const MAX_BODY_BYTES = 64 * 1024 ** 3;
const TIMEOUT_MS = 6 * 3600 * 1000;
/** A gRPC message has room for 4 MiB. */
const MAX_PART_BYTES = 1024 * 1024;

const common = { tag: 'mailboxes' } as const;

export function importRoutes({ imports }: Pick<MailClients, 'imports'>): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/mailboxes/{id}/imports',
      summary: 'Import mail into a mailbox',
      description:
        'The body is one message, an mbox, or a tar or zip of Maildir or .eml files. Dates, read flags and folders (as labels `folder:<name>`) are kept. Mail the mailbox already has is recognized, so an interrupted import can simply be sent again. Imported mail triggers no rules, webhooks or automatic replies.',
      request: { params: idParams },
      bodyKind: 'stream',
      consumes: [
        'message/rfc822',
        'application/mbox',
        'application/x-tar',
        'application/gzip',
        'application/zip',
      ],
      maxBodyBytes: MAX_BODY_BYTES,
      timeoutMs: TIMEOUT_MS,
      responses: { 202: { description: 'The import and its progress', schema: ImportRecord } },
      emits: ['mail.received'],
      handler: async ({ params, headers, bodyStream, call }) => {
        const answer = await imports.import(
          importRequests(params.id, headers['content-type'] ?? '', bodyStream),
          call,
        );
        return { status: 202, json: answer.json, replayed: answer.replayed };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/imports/{id}',
      summary: 'Get an import',
      request: { params: idParams },
      responses: { 200: { description: 'The import and its counts', schema: ImportRecord } },
      handler: async ({ params, call }) => {
        const { json } = await imports.getImport({ id: params.id }, call);
        return { status: 200, json };
      },
    }),
  ];
}

async function* importRequests(
  mailboxId: string,
  contentType: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<ImportRequest> {
  yield { part: { $case: 'description', value: { mailboxId, contentType } } };
  for await (const chunk of body) {
    for (let start = 0; start < chunk.length; start += MAX_PART_BYTES) {
      const value = chunk.subarray(start, start + MAX_PART_BYTES);
      yield { part: { $case: 'content', value } };
    }
  }
}
