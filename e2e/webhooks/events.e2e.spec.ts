import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { RouteDescription } from '@dak/gateway';
import { StreamClient } from '@dak/testing/event-stream';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { plainRequest, send } from '../routes/plain-requests';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

interface EventType {
  type: string;
  schema: object;
  example: object;
}

describeOnBothRuns('events', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  let types: EventType[];
  const clients: StreamClient[] = [];

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'tenantone', 24);
    types = (await tenant.client.get('/webhooks/event-types')).body.data;
  }, 60_000);
  afterEach(() => clients.splice(0).forEach((client) => client.kill()));
  afterAll(() => stack.close());

  async function follow(credential: string, query = ''): Promise<StreamClient> {
    const client = new StreamClient(stack.siteUrl, credential, { query });
    clients.push(client);
    await client.ready();
    expect(client.status).toBe(200);
    return client;
  }

  /** By kind; every member of the event has to be documented, and every documented one there. */
  function validators(): Map<string, (event: unknown) => string[]> {
    const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
    return new Map(
      types.map(({ type, schema }) => {
        const validate = ajv.compile(closed(schema));
        return [
          type,
          (event) =>
            validate(event)
              ? []
              : validate.errors!.map(
                  ({ instancePath, message, params }) =>
                    `${type} ${instancePath} ${message} ${JSON.stringify(params)}`,
                ),
        ];
      }),
    );
  }

  it('are documented with a schema that the example of each kind fulfils', async () => {
    const { body } = await tenant.client.get('/capabilities');
    expect(types.map(({ type }) => type)).toEqual(body.events);
    const check = validators();
    expect(types.flatMap(({ type, example }) => check.get(type)!(example))).toEqual([]);
  });

  it('of all that can be done over the API are as their schemas say', async () => {
    const stream = await follow(tenant.admin.session);
    const superadmin = await superadminSession(stack);
    const credentialFor = (route: RouteDescription): string | undefined => {
      if (route.access === 'public') return undefined;
      if (route.access === 'superadmin') return superadmin;
      return route.sessionOnly ? tenant.admin.session : tenant.key;
    };
    for (const route of stack.gateway.routeTable()) {
      const request = await plainRequest(route, stack, tenant, tenant.open);
      await send(stack.client(credentialFor(route)), route, request);
    }
    await makeRule();
    await sendMail(stack.smtpPort, {
      to: [tenant.open.address],
      raw: mail('A lamp that fell', '<rule-hit@elsewhere.example>'),
    });
    await sendMail(stack.smtpPort, {
      from: '',
      to: [tenant.open.address],
      raw: bounceOf(tenant.open.address),
    });
    const kinds = ['mail.received', 'mail.sent', 'conversation.updated', 'bounce.received'];
    await stream.until('one of each', () => {
      const seen = new Set(stream.events().map(({ type }) => type as string));
      return kinds.every((kind) => seen.has(kind)) && seen.has('rule.matched');
    });
    const check = validators();
    const events = stream.events();
    expect(events.flatMap((event) => check.get(event.type)!(event))).toEqual([]);
    expect(events.length).toBeGreaterThan(30);
    expect(new Set(stream.ids()).size).toBe(events.length);
    expect(new Set(events.map(({ organization_id: id }) => id))).toEqual(
      new Set([tenant.organizationId]),
    );
    expect(stack.failures).toEqual([]);
  }, 60_000);

  it('count per conversation without gaps', async () => {
    const { id } = tenant.open.takeConversation();
    const stream = await follow(tenant.admin.session, '?types=conversation.updated');
    for (const priority of ['high', 'low', 'urgent']) {
      await tenant.client.patch(`/conversations/${id}`, { priority });
    }
    const own = () => stream.events().filter(({ data }) => data['conversation_id'] === id);
    await stream.until('three', () => own().length === 3);
    const [first] = own().map(({ sequence }) => sequence);
    expect(own().map(({ sequence }) => sequence)).toEqual([first, first! + 1, first! + 2]);
    expect(own().map(({ data }) => (data['changes'] as Changes)['priority']?.after)).toEqual([
      'high',
      'low',
      'urgent',
    ]);
  });

  it('reach a member from the mailboxes that they are assigned to, as long as they are', async () => {
    const member = await follow(tenant.member.session);
    const admin = await follow(tenant.admin.session);
    const [open, closed] = [tenant.open.takeConversation(), tenant.closed.takeConversation()];
    const change = async (id: string, priority: string, seenByAdmin: number) => {
      await tenant.client.patch(`/conversations/${id}`, { priority });
      await admin.until('the admin', () => admin.events().length === seenByAdmin);
    };
    const seen = () => member.events().map(({ data }) => data['conversation_id']);
    await change(closed.id, 'high', 1);
    await change(open.id, 'high', 2);
    await member.until('one', () => member.events().length === 1);
    expect(seen()).toEqual([open.id]);

    const path = `/mailboxes/${tenant.open.id}/assignments`;
    const { body: before } = await tenant.client.get(path);
    await tenant.client.put(path, { users: [], department_ids: [] });
    await tenant.client.put(`/mailboxes/${tenant.closed.id}/assignments`, {
      users: [{ user_id: tenant.member.id, access: 'read' }],
      department_ids: [],
    });
    await change(open.id, 'low', 3);
    await change(closed.id, 'low', 4);
    await member.until('two', () => member.events().length === 2);
    expect(seen()).toEqual([open.id, closed.id]);
    await tenant.client.put(`/mailboxes/${tenant.closed.id}/assignments`, {
      users: [],
      department_ids: [],
    });
    await tenant.client.put(path, before);
  }, 30_000);

  type Changes = Record<string, { before: unknown; after: unknown } | undefined>;

  async function makeRule(): Promise<void> {
    const { status, body } = await tenant.client.post('/rules', {
      name: 'Lamps',
      kind: 'labeling',
      match: 'all',
      conditions: [{ field: 'subject', operator: 'contains', value: 'fell' }],
      actions: [{ type: 'add_labels', labels: ['lamp'] }],
    });
    expect([status, body.error]).toEqual([201, undefined]);
    await eventually('the rule', async () => (await tenant.client.get('/rules')).body.total > 0);
  }
});

function mail(subject: string, messageId: string): string {
  return [
    'From: Ada <ada@elsewhere.example>',
    'To: someone',
    `Subject: ${subject}`,
    `Message-ID: ${messageId}`,
    '',
    'Text.',
    '',
  ].join('\r\n');
}

/** A delivery status notification (RFC 3464) about mail that nobody here sent. */
function bounceOf(address: string): string {
  return [
    'From: Mail Delivery <mailer-daemon@elsewhere.example>',
    `To: ${address}`,
    'Subject: Undelivered Mail',
    'Message-ID: <bounce@elsewhere.example>',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'It did not arrive.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.elsewhere.example',
    '',
    'Final-Recipient: rfc822; nobody@elsewhere.example',
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such user',
    '--b--',
    '',
  ].join('\r\n');
}

/** The schema that refuses members which it does not name. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('properties' in value)) return value;
    return { ...value, additionalProperties: false };
  }) as object;
}
