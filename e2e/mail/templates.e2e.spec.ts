import { startStack, type Stack } from '../stack/stack';
import { createKey, createTenant, type Tenant } from '../stack/tenant';

describe('templates over the API', () => {
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'tenantone', 2);
  }, 60_000);
  afterAll(() => stack.close());

  const template = {
    name: 'Shipped',
    alias: 'shipped',
    subject: 'Order {{order}} is on its way',
    body_html:
      '<style>.order{font-weight:bold}</style><p>Dear {{name}}, <a class="order" href="{{link}}">{{order}}</a> left.</p><ul>{{#items}}<li>{{.}}</li>{{/items}}</ul>',
    variables: [
      { name: 'order', type: 'string', required: true },
      { name: 'name', type: 'string', fallback: 'customer' },
      { name: 'link', type: 'url', required: true },
      { name: 'items', type: 'list' },
    ],
  };

  it('are made, found, changed under If-Match, previewed, sent, answered with, and deleted', async () => {
    const { client } = tenant;
    const made = await client.post('/templates', template);
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    const path = `/templates/${made.body.id}`;
    const found = await client.get('/templates?alias=shipped');
    expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    expect((await client.post('/templates', template)).headers.get('x-error-code')).toBe(
      'alias_taken',
    );

    const changed = await client.patch(path, { name: 'On its way' }, { 'If-Match': '"1"' });
    expect([changed.status, changed.body.version]).toEqual([200, 2]);
    const stale = await client.patch(path, { name: 'Late' }, { 'If-Match': '"1"' });
    expect(stale.status).toBe(412);
    const { body: versions } = await client.get(`${path}/versions`);
    expect(versions.data.map(({ name }: { name: string }) => name)).toEqual([
      'On its way',
      'Shipped',
    ]);
    expect((await client.get(`${path}/versions/1`)).body).toMatchObject({
      version: 1,
      name: 'Shipped',
      author: { type: 'api_key' },
    });
    expect((await client.get(`${path}/versions/3`)).status).toBe(404);

    const preview = await client.post(`${path}/preview`, { variables: { order: 'A & B' } });
    expect(preview.body).toMatchObject({ subject: 'Order A & B is on its way', missing: ['link'] });

    const values = { order: 'A-1', link: 'https://shop.example/a?b=1&c=2', items: ['<b>', 'two'] };
    const sent = await client.post('/compose/send', {
      mailbox_id: tenant.open.id,
      to: ['ada@elsewhere.example'],
      template_id: made.body.id,
      template_variables: values,
    });
    expect(sent.status).toBe(201);
    expect(await messageOf(sent.body)).toMatchObject({
      subject: 'Order A-1 is on its way',
      body_html: expect.stringContaining('<li>&lt;b&gt;</li><li>two</li>') as string,
      body_text: expect.stringContaining('Dear customer, A-1') as string,
    });
    expect((await client.get(`/outbox/${sent.body.id}`)).body.template).toEqual({
      id: made.body.id,
      version: 2,
    });

    const { id: conversationId } = tenant.open.conversation;
    const answered = await client.post(`/conversations/${conversationId}/reply`, {
      template_id: made.body.id,
      template_variables: values,
    });
    expect(await messageOf(answered.body)).toMatchObject({
      subject: expect.stringMatching(/^Re: /) as string,
      body_html: expect.stringContaining('style="font-weight:bold"') as string,
    });

    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
  });

  it('are refused with a sentence that names the field', async () => {
    const { client } = tenant;
    const tries: [object, string][] = [
      [
        { ...template, subject: '{{oder}}' },
        'subject has the tag {{oder}}, but variables declares',
      ],
      [{ ...template, body_html: '{{{order}}}' }, 'body_html has the tag {{{order}}}, which would'],
      [{ ...template, alias: 'No' }, 'alias must be 1 to 63 lower-case'],
      [{ ...template, body_html: ' ' }, 'body_text and body_html are both empty'],
    ];
    for (const [body, sentence] of tries) {
      const reply = await client.post('/templates', body);
      expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    }
    const made = await client.post('/templates', { ...template, alias: null });
    const compose = { mailbox_id: tenant.open.id, to: ['ada@elsewhere.example'] };
    const sends: [object, string][] = [
      [{ template_id: made.body.id }, 'template_variables lacks order, link, which'],
      [
        { template_id: made.body.id, body_text: 'x' },
        'template_id and body_text exclude each other',
      ],
      [{ body_text: 'x', template_variables: {} }, 'template_variables needs a template_id'],
      [
        { template_id: made.body.id, template_variables: { order: 'x', link: 'javascript:1' } },
        'template_variables.link must be an absolute address',
      ],
    ];
    for (const [fields, sentence] of sends) {
      const reply = await client.post('/compose/send', { ...compose, ...fields });
      expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    }
  });

  it('serve everybody who may send, and are managed by those with the scope', async () => {
    const { body: made } = await tenant.client.post('/templates', {
      name: 'Hello',
      subject: 'Hello',
      body_text: 'Hello.',
    });
    const { key } = await createKey(stack.client(tenant.admin.session), 'sender', ['mail.send']);
    const sender = stack.client(key);
    const sent = await sender.post('/compose/send', {
      mailbox_id: tenant.open.id,
      to: ['ada@elsewhere.example'],
      template_id: made.id,
    });
    expect(sent.status).toBe(201);
    expect((await sender.get(`/templates/${made.id}`)).status).toBe(403);
  });

  async function messageOf({ id, conversation_id }: { id: string; conversation_id: string }) {
    return (await tenant.client.get(`/conversations/${conversation_id}/messages/${id}`)).body;
  }
});
