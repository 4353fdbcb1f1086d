import type { ApiClient } from '@dak/testing/api-client';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

const KB = 1024;

describeOnBothRuns('a limit on storage', (startStack) => {
  let stack: Stack;
  let platform: ApiClient;
  let full: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    platform = stack.client(await superadminSession(stack));
    full = await createTenant(stack, 'brimful');
    other = await createTenant(stack, 'roomy');
  }, 120_000);
  afterAll(() => stack.close());

  const limit = async (storage_bytes: number | null) => {
    const path = `/admin/organizations/${full.organizationId}`;
    const { status, body } = await platform.patch(path, { storage_bytes });
    expect({ status, shown: body.storage_bytes }).toEqual({ status: 200, shown: storage_bytes });
    expect((await platform.get(path)).body.storage_bytes).toBe(storage_bytes);
  };
  const mailTo = (tenant: Tenant, bytes: number) =>
    sendMail(stack.smtpPort, {
      to: [tenant.open.address],
      raw: `Subject: ${tenant.unique()}\r\n\r\n${'x'.repeat(70)}\r\n`.padEnd(bytes, 'line\r\n'),
    });
  const upload = (tenant: Tenant, bytes: number) => {
    const form = new FormData();
    form.set('file', new Blob(['y'.repeat(bytes)]), 'file.txt');
    return tenant.client.post('/attachments', form);
  };
  const compose = (tenant: Tenant, bytes: number) =>
    tenant.client.post('/compose/send', {
      mailbox_id: tenant.open.id,
      to: ['ada@elsewhere.example'],
      subject: tenant.unique(),
      body_text: 'a long letter '.repeat(bytes / 14),
    });
  const importMail = (tenant: Tenant) =>
    tenant.client.call('POST', `/mailboxes/${tenant.open.id}/imports`, {
      body: Buffer.from('From a@b.example Mon Jan  1 00:00:00 2024\nSubject: old\n\nold\n'),
      headers: { 'Content-Type': 'application/mbox' },
    });

  it('defers mail and refuses files, imports and mail out when it is reached, of that tenant alone', async () => {
    await limit(200 * KB);
    await eventually('mail is deferred', async () =>
      (await mailTo(full, 60 * KB)).startsWith('452 4.2.2'),
    );
    for (const reply of [await upload(full, KB), await importMail(full), await compose(full, KB)]) {
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([422, 'storage_full']);
    }
    expect(await mailTo(other, KB)).toMatch(/^250/);
    expect((await upload(other, KB)).status).toBe(201);
  });

  it('refuses what alone would go beyond, and takes what fits', async () => {
    await limit(2 * KB * KB);
    await eventually('the new limit is known', async () => (await upload(full, KB)).status === 201);
    expect((await upload(full, 3 * KB * KB)).headers.get('x-error-code')).toBe('storage_full');
    // What mail out knows of the limit is up to a second old.
    await eventually('mail out fits', async () => (await compose(full, KB)).status === 201);
    expect((await compose(full, 1_960 * KB)).headers.get('x-error-code')).toBe('storage_full');
  });

  it('ends when it is lifted', async () => {
    await limit(0);
    await eventually('mail is deferred', async () => (await mailTo(full, KB)).startsWith('452'));
    await limit(null);
    await eventually('mail comes in', async () => (await mailTo(full, KB)).startsWith('250'));
    expect((await upload(full, KB)).status).toBe(201);
  });
});
