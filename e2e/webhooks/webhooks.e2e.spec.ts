import { randomBytes } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { EVENT_DATA, PublicEventRecord } from '@dak/contracts/api';
import { EVENT_KINDS } from '@dak/contracts/events';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import {
  createKey,
  createTenant,
  signIn,
  superadminSession,
  type Tenant,
  type TenantMailbox,
} from '../stack/tenant';
import { startWebhookSink, type SunkRequest, type WebhookSink } from '../stack/webhook-sink';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function verify(secret: string, { headers, body }: SunkRequest): void {
  new StandardWebhook(secret).verify(body, headers);
  new SvixWebhook(secret).verify(body, headers);
}

describeOnBothRuns('webhooks', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  const sinks: WebhookSink[] = [];

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'markhooks');
  }, 60_000);
  afterAll(async () => {
    expect(stack.failures).toEqual([]);
    await stack.close();
    for (const sink of sinks) await sink.close();
  });

  async function openSink(): Promise<WebhookSink> {
    const sink = await startWebhookSink();
    sinks.push(sink);
    return sink;
  }

  async function subscribe(
    client: Tenant['client'],
    sink: WebhookSink,
    fields: object = {},
  ): Promise<{ id: string; secret: string | null; version: number }> {
    const { status, body } = await client.post('/webhooks', {
      url: sink.url,
      event_types: ['mail.received'],
      ...fields,
    });
    if (status !== 201) throw new Error(`got ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** A new conversation over SMTP; its id. */
  async function receive({ address }: TenantMailbox, of: Tenant = tenant): Promise<string> {
    const subject = `${of.unique()} arrives`;
    const raw = `From: Ada <ada@elsewhere.example>\r\nTo: ${address}\r\nSubject: ${subject}\r\nMessage-ID: <${of.unique()}@elsewhere.example>\r\n\r\nhello\r\n`;
    expect(await sendMail(stack.smtpPort, { to: [address], raw })).toMatch(/^250/);
    return eventually(`a conversation with the subject ${subject}`, async () => {
      const { body } = await of.client.get('/conversations?per_page=100');
      return (body.data as { id: string; subject: string }[]).find((row) => row.subject === subject)
        ?.id;
    });
  }

  const arrival = (sink: WebhookSink, conversationId: string, count = 1) =>
    eventually('the event at its receiver', () =>
      Promise.resolve(sink.of(conversationId).length >= count && sink.of(conversationId)),
    );

  it('mail that comes in goes out as a signed event of the documented shape', async () => {
    const sink = await openSink();
    const webhook = await subscribe(tenant.client, sink, {
      own_secret: true,
      headers: { 'X-Token': 'for the receiver alone' },
    });
    expect(webhook.secret).toMatch(/^whsec_/);
    const conversationId = await receive(tenant.open);
    const [request] = await arrival(sink, conversationId);

    verify(webhook.secret!, request!);
    const event = PublicEventRecord.parse(request!.event);
    EVENT_DATA['mail.received'].parse(event.data);
    expect(event).toMatchObject({
      type: 'mail.received',
      api_version: 'v1',
      organization_id: tenant.organizationId,
      data: { conversation_id: conversationId, mailbox_id: tenant.open.id, imported: false },
    });
    expect(request!.headers).toMatchObject({
      'webhook-id': event.id,
      'content-type': 'application/json',
      'x-token': 'for the receiver alone',
    });
    const { body } = await tenant.client.get(`/webhooks/${webhook.id}`);
    expect(body.header_names).toEqual(['X-Token']);
    expect(JSON.stringify(body)).not.toContain('for the receiver alone');

    const deliveries = await eventually('the delivery is told', async () => {
      const reply = await tenant.client.get(`/webhooks/${webhook.id}/deliveries?state=delivered`);
      return reply.body.total > 0 && reply.body.data;
    });
    expect(deliveries[0]).toMatchObject({
      event_id: event.id,
      state: 'delivered',
      attempts: 1,
      status_code: 204,
    });
    const one = `/webhooks/${webhook.id}/deliveries/${deliveries[0].id}`;
    expect((await tenant.client.get(one)).body.body).toEqual(request!.event);
    const attempts = await tenant.client.get(`${one}/attempts`);
    expect(attempts.body.data).toMatchObject([
      { number: 1, outcome: 'delivered', status_code: 204 },
    ]);
  });

  it('while the secret of the organization is replaced, receivers with the old and with the new one verify', async () => {
    const sink = await openSink();
    await subscribe(tenant.client, sink);
    const before = await tenant.client.get('/settings/webhook-secret');
    expect(before.body).toMatchObject({ exists: true, previous_valid_until: null });

    const [old, fresh] = [newSecret(), newSecret()];
    const put = (fields: object) => tenant.client.put('/settings/webhook-secret', fields);
    const firstSignedWith = async (secret: string): Promise<SunkRequest> => {
      const [one] = await arrival(sink, await receive(tenant.open));
      verify(secret, one!);
      return one!;
    };
    const first = await put({ secret: old, overlap_hours: 0 });
    expect(first.body.secret).toBe(old);
    const alone = await firstSignedWith(old);
    expect(() => verify(fresh, alone)).toThrow('No matching signature');

    const second = await put({ secret: fresh, overlap_hours: 24 });
    expect(Date.parse(second.body.previous_valid_until) - Date.now()).toBeGreaterThan(
      23 * 3_600_000,
    );
    const both = await firstSignedWith(fresh);
    verify(old, both);
    expect(() => verify(newSecret(), both)).toThrow('No matching signature');

    const { body: state } = await tenant.client.get('/settings/webhook-secret');
    expect(state.exists).toBe(true);
    expect(JSON.stringify(state)).not.toContain('whsec_');
    const made = await put({});
    expect(made.body.secret).toMatch(/^whsec_/);
    expect((await put({ secret: 'whsec_short' })).status).toBe(400);
    expect((await put({ overlap_hours: 169 })).status).toBe(400);
  });

  it('an endpoint gets what its owner may see at that moment', async () => {
    const control = await openSink();
    await subscribe(tenant.client, control);
    const sink = await openSink();
    const owned = await subscribe(tenant.memberClient, sink);
    const deliver = async (mailbox: TenantMailbox) => {
      const conversationId = await receive(mailbox);
      await arrival(control, conversationId);
      return conversationId;
    };
    const assign = (users: string[], department_ids: string[]) =>
      tenant.client.put(`/mailboxes/${tenant.closed.id}/assignments`, {
        users: users.map((user_id) => ({ user_id, access: 'read' })),
        department_ids,
      });
    const members = (user_ids: string[]) =>
      tenant.client.put(`/departments/${tenant.departmentId}/members`, { user_ids });

    const unseen = [await deliver(tenant.closed)];
    await arrival(sink, await deliver(tenant.open));

    await assign([tenant.member.id], []);
    await arrival(sink, await deliver(tenant.closed));
    await assign([], []);
    unseen.push(await deliver(tenant.closed));

    await assign([], [tenant.departmentId]);
    await arrival(sink, await deliver(tenant.closed));
    await members([]);
    unseen.push(await deliver(tenant.closed));
    await members([tenant.member.id]);
    await arrival(sink, await deliver(tenant.closed));
    await assign([], []);

    await arrival(sink, await deliver(tenant.open));
    for (const conversationId of unseen) expect(sink.of(conversationId)).toEqual([]);

    await tenant.client.patch(`/settings/users/${tenant.member.id}`, { active: false });
    const afterwards = await deliver(tenant.open);
    expect(sink.of(afterwards)).toEqual([]);
    const { body } = await tenant.client.get(`/webhooks/${owned.id}`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'owner_inactive' });
    await tenant.client.patch(`/settings/users/${tenant.member.id}`, { active: true });
    tenant.memberClient = stack.client((await signIn(stack, tenant.member)).session);
  }, 60_000);

  it('a regular user has their own webhooks, and names only mailboxes that they see', async () => {
    const [sink, other] = [await openSink(), await openSink()];
    const ofAdmin = await subscribe(tenant.client, sink);
    const stranger = await createTenant(stack, 'markother');
    for (const client of [tenant.memberClient, stranger.client]) {
      expect((await client.get(`/webhooks/${ofAdmin.id}`)).status).toBe(404);
      expect((await client.patch(`/webhooks/${ofAdmin.id}`, { enabled: false })).status).toBe(404);
      expect((await client.delete(`/webhooks/${ofAdmin.id}`)).status).toBe(404);
      expect((await client.get(`/webhooks/${ofAdmin.id}/deliveries`)).status).toBe(404);
      const { body } = await client.get('/webhooks?per_page=100');
      expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(ofAdmin.id);
    }
    for (const [client, mailbox] of [
      [tenant.memberClient, tenant.closed],
      [tenant.client, stranger.open],
    ] as const) {
      const { status, body } = await client.post('/webhooks', {
        url: other.url,
        mailbox_ids: [mailbox.id],
      });
      expect([status, body.error]).toEqual([
        400,
        'mailbox_ids[0] is not a mailbox that you see: GET /mailboxes lists them.',
      ]);
    }
    const narrow = await subscribe(tenant.client, other, { mailbox_ids: [tenant.closed.id] });
    const [elsewhere, here] = [await receive(tenant.open), await receive(tenant.closed)];
    await arrival(other, here);
    await arrival(sink, elsewhere);
    expect(other.of(elsewhere)).toEqual([]);
    expect((await tenant.memberClient.get(`/webhooks/${narrow.id}`)).status).toBe(404);
    expect((await tenant.memberClient.put('/settings/webhook-secret', {})).status).toBe(403);
  }, 60_000);

  it('events are sent again on request under the same id: one delivery, or a period', async () => {
    const sink = await openSink();
    sink.status = 500;
    const { id } = await subscribe(tenant.client, sink, { own_secret: true });
    const since = new Date(Date.now() - 1000).toISOString();
    const conversationId = await receive(tenant.open);
    await arrival(sink, conversationId);
    const failed = await eventually('the failed attempt is told', async () => {
      const { body } = await tenant.client.get(`/webhooks/${id}/deliveries?state=pending`);
      return body.data.find((row: { attempts: number }) => row.attempts === 1);
    });
    expect(failed).toMatchObject({ status_code: 500, error_code: 'server_error' });
    expect(Date.parse(failed.next_attempt_at)).toBeGreaterThan(Date.now());

    sink.status = 200;
    const retry = await tenant.client.post(`/webhooks/${id}/deliveries/${failed.id}/retry`, {});
    expect(retry).toMatchObject({
      status: 202,
      body: { trigger: 'retry', event_id: failed.event_id },
    });
    await arrival(sink, conversationId, 2);

    const started = await tenant.client.post(`/webhooks/${id}/replay`, { since });
    expect(started).toMatchObject({ status: 202, body: { state: 'running', total: 1 } });
    await eventually('the replay is done', async () => {
      const { body } = await tenant.client.get(`/webhooks/${id}/replays/${started.body.id}`);
      return body.state === 'done' && body.queued === 1;
    });
    const requests = await arrival(sink, conversationId, 3);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([failed.event_id]),
    );
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);

    const only = await tenant.client.post(`/webhooks/${id}/replay`, { since, only_failed: true });
    await eventually('the second replay is done', async () => {
      const { body } = await tenant.client.get(`/webhooks/${id}/replays/${only.body.id}`);
      return body.state === 'done' && body.queued === 0;
    });
    const wrong = await tenant.client.post(`/webhooks/${id}/replay`, { since, until: since });
    expect(wrong.status).toBe(400);
  }, 60_000);

  it('410 ends it, until somebody enables it again', async () => {
    const [sink, control] = [await openSink(), await openSink()];
    await subscribe(tenant.client, control);
    sink.status = 410;
    const { id } = await subscribe(tenant.client, sink);
    await arrival(sink, await receive(tenant.open));
    const disabled = await eventually('it is disabled', async () => {
      const { body } = await tenant.client.get(`/webhooks/${id}`);
      return body.status === 'disabled' && body;
    });
    expect(disabled).toMatchObject({ disabled_reason: 'gone', enabled: true });
    sink.status = 204;
    const missed = await receive(tenant.open);
    await arrival(control, missed);
    expect(sink.of(missed)).toEqual([]);

    await tenant.client.patch(`/webhooks/${id}`, { enabled: true });
    await arrival(sink, await receive(tenant.open));
    expect(sink.of(missed)).toEqual([]);
  });

  it('nothing goes out for an organization that is suspended; what is due follows when it is active again', async () => {
    const other = await createTenant(stack, 'marksuspended');
    const sink = await openSink();
    sink.status = 500;
    const webhook = await subscribe(other.client, sink);
    const control = await openSink();
    await subscribe(tenant.client, control);
    const conversationId = await receive(other.open, other);
    await arrival(sink, conversationId);
    const dueAt = await eventually('the time of the second attempt', async () => {
      const { body } = await other.client.get(`/webhooks/${webhook.id}/deliveries`);
      const [delivery] = body.data as { attempts: number; next_attempt_at: string | null }[];
      return delivery?.attempts === 1 && delivery.next_attempt_at;
    });
    const platform = stack.client(await superadminSession(stack));
    const become = (status: string) =>
      platform.patch(`/admin/organizations/${other.organizationId}`, { status });
    await become('suspended');
    sink.status = 204;
    const before = sink.requests.length;
    await eventually('the second attempt is due', () => Date.now() > Date.parse(dueAt));
    await arrival(control, await receive(tenant.open));
    expect(sink.requests).toHaveLength(before);
    const tried = sink.of(conversationId).length;
    await become('active');
    await arrival(sink, conversationId, tried + 1);
  }, 60_000);

  it('a registration is refused with the field and the fix', async () => {
    const ask = async (fields: object) => {
      const { status, body } = await tenant.client.post('/webhooks', {
        url: 'https://hooks.example.com/dak',
        ...fields,
      });
      return [status, body.error];
    };
    const told = (text: string) => [400, expect.stringContaining(text)];
    expect(await ask({ url: 'http://hooks.example.com/' })).toEqual(
      told('url must begin with https://'),
    );
    expect(await ask({ url: 'https://10.0.0.1/' })).toEqual(
      told('url must lead to a public address'),
    );
    expect(await ask({ url: 'https://[::ffff:169.254.169.254]/' })).toEqual(told('link local'));
    expect(await ask({ url: 'https://a:b@hooks.example.com/' })).toEqual(told('user name'));
    expect(await ask({ url: 'nonsense' })).toEqual(told('url must be an absolute URL'));
    expect(await ask({ event_types: ['mail.opened'] })).toEqual(
      told(EVENT_KINDS.map((kind) => `"${kind}"`).join(', ')),
    );
    for (const name of ['Host', 'content-type', 'Webhook-Id', 'Connection', 'Transfer-Encoding']) {
      expect(await ask({ headers: { [name]: 'x' } })).toEqual(told(name));
    }
    expect(await ask({ headers: { 'X-A': 'line\r\nbreak: 1' } })).toEqual(told('headers.X-A'));
    expect(await ask({ ordering: 'random' })).toEqual(told('ordering'));
  });

  it('a change says which version it is of, and the audit log what was done and by whom, without secrets', async () => {
    const sink = await openSink();
    const webhook = await subscribe(tenant.client, sink, { own_secret: true });
    const path = `/webhooks/${webhook.id}`;
    const read = await tenant.client.get(path);
    const etag = read.headers.get('etag')!;
    const changed = await tenant.client.patch(path, { description: 'First' }, { 'If-Match': etag });
    expect(changed).toMatchObject({ status: 200, body: { description: 'First' } });
    const stale = await tenant.client.patch(path, { description: 'Second' }, { 'If-Match': etag });
    expect(stale.status).toBe(412);
    const given = newSecret();
    await tenant.client.post(`${path}/rotate-secret`, { secret: given });
    await tenant.client.put('/settings/webhook-secret', { secret: given });
    expect((await tenant.client.delete(path)).status).toBe(204);
    expect((await tenant.client.get(path)).status).toBe(404);

    const { body } = await tenant.client.get(`/audit?target=${webhook.id}`);
    const actions = (body.data as { action: string }[]).map(({ action }) => action);
    expect(actions.sort()).toEqual([
      'webhook.created',
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.updated',
    ]);
    const all = await tenant.client.get('/audit?per_page=100');
    const text = JSON.stringify(all.body);
    expect(text).toContain('webhook_secret.replaced');
    for (const secret of [given, webhook.secret!]) expect(text).not.toContain(secret.slice(6));
  });

  it('one request with an Idempotency-Key makes one webhook, and its secret is told to whoever repeats it', async () => {
    const sink = await openSink();
    const key = { 'Idempotency-Key': tenant.unique() };
    const body = { url: sink.url, own_secret: true };
    const first = await tenant.client.post('/webhooks', body, key);
    const again = await tenant.client.post('/webhooks', body, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const { body: audit } = await tenant.client.get(`/audit?target=${first.body.id}`);
    expect(audit.data).toHaveLength(1);
  });

  it('an organization has fifty at most', async () => {
    const other = await createTenant(stack, 'markfifty');
    const url = 'https://hooks.example.com/dak';
    for (let index = 0; index < 50; index += 1) {
      expect((await other.client.post('/webhooks', { url, enabled: false })).status).toBe(201);
    }
    const { status, body } = await other.client.post('/webhooks', { url });
    expect([status, body.error]).toEqual([409, expect.stringContaining('50 webhooks')]);
  }, 60_000);

  it('a key without webhooks.manage reaches none of it', async () => {
    const { key } = await createKey(stack.client(tenant.admin.session), 'reader', ['mail.read']);
    const client = stack.client(key);
    for (const path of ['/webhooks', '/settings/webhook-secret']) {
      expect((await client.get(path)).status).toBe(403);
    }
  });
});
