import { SCOPES } from '@dak/kernel';
import { startStack, type Stack } from '../stack/stack';
import { createKey, createTenant, type Tenant } from '../stack/tenant';

describe('links to files', () => {
  let stack: Stack;
  let tenant: Tenant;
  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'links');
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  it('end with the key that made them', async () => {
    const { key, id } = await createKey(stack.client(tenant.admin.session), 'maker', SCOPES);
    const maker = stack.client(key);
    const { id: conversation, messageIds, attachmentId } = tenant.open.conversation;
    const path = `/conversations/${conversation}/messages/${messageIds[0]}/attachments/${attachmentId}`;
    const { download_url: download } = (await maker.get(path)).body;
    const prepared = await maker.post('/attachments/uploads', { filename: 'a', size_bytes: 1 });
    expect((await fetch(download)).status).toBe(200);
    await tenant.client.delete(`/settings/api-keys/${id}`);
    expect((await fetch(download)).status).toBe(401);
    const sent = await fetch(prepared.body.upload_url, { method: 'PUT', body: 'x' });
    expect(sent.status).toBe(401);
  });
});
