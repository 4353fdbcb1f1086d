import type { ApiClient } from '@dak/testing/api-client';
import { draft, lastSegment, type Noun } from './noun';

export const attachments: Noun = {
  records: {
    '/api/v1/attachments': async ({ tenant, client }) =>
      (await upload(client, tenant.unique())).token,
    '/api/public/uploads': async ({ client }) => {
      const asked = { filename: 'a.txt', size_bytes: 3 };
      return lastSegment((await client.post('/attachments/uploads', asked)).body.upload_url);
    },
    '/api/public/attachments': async ({ mailbox: { conversation }, client }) => {
      const { id, messageIds, attachmentId } = conversation;
      const path = `/conversations/${id}/messages/${messageIds[0]}/attachments/${attachmentId}`;
      return lastSegment((await client.get(path)).body.download_url);
    },
  },
  requests: {
    'POST /api/v1/attachments': ({ tenant }) => ({ body: form(tenant.unique()) }),
    'POST /api/v1/attachments/uploads': ({ tenant }) => ({
      body: { filename: `${tenant.unique()}.txt`, content_type: 'text/plain', size_bytes: 3 },
    }),
    'PUT /api/public/uploads/{ticket}': () => ({
      body: Buffer.from('abc'),
      headers: { 'Content-Type': 'application/octet-stream' },
    }),
    'POST /api/v1/attachments/from-message': ({ mailbox: { conversation } }) => ({
      body: {
        message_id: conversation.messageIds[0],
        attachment_id: conversation.attachmentId,
      },
    }),
  },
  audited: {
    'POST /api/v1/attachments': draft,
    'POST /api/v1/attachments/uploads': draft,
    'POST /api/v1/attachments/from-message': draft,
    'DELETE /api/v1/attachments/{token}': draft,
    'PUT /api/public/uploads/{ticket}': draft,
  },
};

/** A file of the caller, to be sent with a mail. */
export async function upload(
  client: ApiClient,
  marker: string,
): Promise<{ token: string; filename: string }> {
  const { body } = await client.post('/attachments', form(marker));
  return body;
}

function form(marker: string): FormData {
  const parts = new FormData();
  parts.set('file', new File([`${marker} content`], `${marker}.txt`, { type: 'text/plain' }));
  return parts;
}
