import { z } from 'zod';
import type { Clock, Principal, Scope } from '@dak/kernel';
import {
  ATTACHMENT_LIMITS,
  CreateUpload,
  createUploadToken,
  ReuseAttachment,
  UploadRecord,
  uploadTokenShape,
} from '@dak/contracts/api';
import { ReuseAttachmentRequest, UploadDescription, type UploadRequest } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';
import { defineRoute, missingScope, type Route } from '../http';
import { openTicket, sealTicket } from '../http/sealed-ticket';
import type { CredentialHolder } from '../identity/credential-authenticator';
import type { MailClients } from './mail-clients';
import { readMultipartFile } from './multipart-file';
import { created } from './submission-routes';

export interface AttachmentRouteOptions {
  /** 32 bytes; seals the links. The same on every replica. */
  readonly ticketKey: Uint8Array;
  /** Where clients reach the site, without a slash at the end. */
  readonly siteUrl: string;
  readonly clock: Clock;
  readonly principalOf: (holder: CredentialHolder) => Promise<Principal>;
}

const { attachment_bytes: MAX_FILE_BYTES } = ATTACHMENT_LIMITS;
/** Around the file: boundaries, part headers, other fields. */
const FORM_BYTES = 64 * 1024;
const DOWNLOAD_LINK_MS = 5 * 60_000;
const UPLOAD_LINK_MS = 60 * 60_000;
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
const DOWNLOAD = 'attachment download';
const UPLOAD = 'attachment upload';

const common = { tag: 'attachments' } as const;
const upload = { 201: { description: 'The upload', schema: UploadRecord } };
const tokenParams = z.object({ token: uploadTokenShape });
const ticketParams = z.object({ ticket: z.string().min(1).max(4096) });

interface DownloadTicket {
  holder: CredentialHolder;
  conversationId: string;
  messageId: string;
  attachmentId: string;
  filename: string;
}

interface UploadTicket {
  holder: CredentialHolder;
  description: UploadDescription;
}

/** Uploads and downloads; all content is streamed. */
export function attachmentRoutes(
  { attachments }: Pick<MailClients, 'attachments'>,
  { ticketKey, siteUrl, clock, principalOf }: AttachmentRouteOptions,
): Route[] {
  /** A link ends with the credential that made it, and with the scope that was needed for it. */
  const callerOf = async (holder: CredentialHolder, scope: Scope): Promise<Principal> => {
    const principal = await principalOf(holder);
    if (!principal.scopes.includes(scope)) throw missingScope([scope]);
    return principal;
  };
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/attachments',
      summary: 'Upload a file',
      description:
        'multipart/form-data with the field `file`, optionally preceded by `content_id` and `disposition` (inline or attachment). The token is valid for 24 hours, for the uploader only.',
      bodyKind: 'multipart',
      maxBodyBytes: MAX_FILE_BYTES + FORM_BYTES,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      responses: upload,
      handler: async ({ headers, bodyStream, call }) => {
        const file = await readMultipartFile(headers, bodyStream);
        const description: UploadDescription = {
          filename: file.filename,
          contentType: file.contentType,
          contentId: file.fields.get('content_id'),
          disposition: file.fields.get('disposition'),
        };
        return created(await attachments.upload(requestsOf(description, file.content), call));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/attachments/uploads',
      summary: 'Create an upload',
      description: `At most ${MAX_FILE_BYTES} bytes. The link accepts the content once, within an hour, without further credentials.`,
      idempotency: 'none',
      request: { body: CreateUpload },
      responses: {
        201: {
          description: 'Where to send the content',
          schema: z.object({
            token: z.string(),
            upload_url: z.string(),
            expires_at: z.iso.datetime(),
          }),
        },
      },
      handler: ({ body, principal }) => {
        const token = createUploadToken();
        const expiresAt = clock() + UPLOAD_LINK_MS;
        const content: UploadTicket = {
          holder: holderOf(principal),
          description: messageOf(
            UploadDescription,
            { content_type: 'application/octet-stream', ...body },
            { token },
          ),
        };
        const ticket = sealTicket(ticketKey, UPLOAD, { expiresAt, content });
        return {
          status: 201,
          body: {
            token,
            upload_url: `${siteUrl}/api/public/uploads/${ticket}`,
            expires_at: new Date(expiresAt).toISOString(),
          },
        };
      },
    }),
    defineRoute({
      method: 'PUT',
      base: 'site',
      path: '/api/public/uploads/{ticket}',
      tag: 'attachments',
      summary: 'Upload content',
      bodyKind: 'stream',
      maxBodyBytes: MAX_FILE_BYTES,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      request: { params: ticketParams },
      responses: upload,
      handler: async ({ params, bodyStream, call }) => {
        const { holder, description } = openTicket<UploadTicket>(
          ticketKey,
          UPLOAD,
          params.ticket,
          clock(),
        );
        const principal = await callerOf(holder, 'mail.send');
        const requests = requestsOf(description, bodyStream);
        return created(await attachments.upload(requests, { ...call, principal }));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/attachments/from-message',
      summary: 'Create an attachment token from a received file',
      request: { body: ReuseAttachment },
      responses: upload,
      handler: async ({ body, call }) => {
        const request = messageOf(ReuseAttachmentRequest, body);
        return created(await attachments.reuseAttachment(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/attachments/{token}',
      summary: 'Discard an upload',
      request: { params: tokenParams },
      responses: { 204: { description: 'Discarded' } },
      handler: async ({ params, call }) => {
        await attachments.discardUpload({ token: params.token }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/conversations/{id}/messages/{mid}/attachments/{aid}',
      tag: 'attachments',
      summary: 'Get a link to an attachment',
      description: 'The link needs no credentials and is valid for 5 minutes.',
      request: { params: z.object({ id: z.uuid(), mid: z.uuid(), aid: z.uuid() }) },
      responses: {
        200: {
          description: 'The link',
          schema: z.object({ download_url: z.string(), expires_at: z.iso.datetime() }),
        },
      },
      handler: async ({ params, principal, call }) => {
        const where = {
          conversationId: params.id,
          messageId: params.mid,
          attachmentId: params.aid,
        };
        const { filename } = await attachments.describeAttachment(where, call);
        const expiresAt = clock() + DOWNLOAD_LINK_MS;
        const content: DownloadTicket = { holder: holderOf(principal), ...where, filename };
        const ticket = sealTicket(ticketKey, DOWNLOAD, { expiresAt, content });
        return {
          status: 200,
          body: {
            download_url: `${siteUrl}/api/public/attachments/${ticket}`,
            expires_at: new Date(expiresAt).toISOString(),
          },
        };
      },
    }),
    defineRoute({
      method: 'GET',
      base: 'site',
      path: '/api/public/attachments/{ticket}',
      tag: 'attachments',
      summary: 'Download an attachment by link',
      timeoutMs: UPLOAD_TIMEOUT_MS,
      request: { params: ticketParams },
      responses: {
        200: { description: 'The content', contentType: 'application/octet-stream' },
      },
      handler: async ({ params, call }) => {
        const ticket = openTicket<DownloadTicket>(ticketKey, DOWNLOAD, params.ticket, clock());
        const { holder, filename, ...where } = ticket;
        const asCaller = { ...call, principal: await callerOf(holder, 'mail.read') };
        // Checked again: the link's creator may have lost access to the mailbox since.
        const { sizeBytes } = await attachments.describeAttachment(where, asCaller);
        return {
          status: 200,
          stream: contentOf(attachments.downloadAttachment(where, asCaller)),
          headers: {
            'Content-Type': 'application/octet-stream',
            'Content-Length': String(sizeBytes),
            'Content-Disposition': attachmentDisposition(filename),
            'X-Content-Type-Options': 'nosniff',
            'Content-Security-Policy': "default-src 'none'; sandbox",
            'Cache-Control': 'private, no-store',
            'Referrer-Policy': 'no-referrer',
          },
        };
      },
    }),
  ];
}

function holderOf({ type, organizationId, credentialId }: Principal): CredentialHolder {
  return { type, organizationId, credentialId };
}

async function* requestsOf(
  description: UploadDescription,
  content: AsyncIterable<Buffer>,
): AsyncIterable<UploadRequest> {
  yield { part: { $case: 'description', value: description } };
  for await (const chunk of content) yield { part: { $case: 'content', value: chunk } };
}

async function* contentOf(
  chunks: AsyncIterable<{ content: Uint8Array }>,
): AsyncIterable<Uint8Array> {
  for await (const { content } of chunks) yield content;
}

/** Never shown inside a page, whatever it is (RFC 6266, RFC 8187). */
export function attachmentDisposition(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
