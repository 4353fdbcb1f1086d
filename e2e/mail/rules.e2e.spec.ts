import { eventually } from '@dak/testing/waiting';
import { sendMail } from '../stack/sending-mail';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';
import { startWebhookSink } from '../stack/webhook-sink';

/** Rules over the API and over SMTP: what a client writes down is what mail meets. */
describe('rules', () => {
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'markrules');
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  async function deliver(subject: string, extra = ''): Promise<void> {
    const raw = `From: Meera <meera@customer.example>\r\nTo: ${tenant.open.address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@customer.example>\r\n${extra}\r\nHello.\r\n`;
    const answer = await sendMail(stack.smtpPort, {
      from: 'meera@customer.example',
      to: [tenant.open.address],
      raw,
    });
    expect(answer).toMatch(/^250/);
  }

  /** The conversation with the subject, once `check` holds for it. */
  async function conversation(subject: string, check: (record: Found) => boolean): Promise<Found> {
    let found: Found | undefined;
    const clues = () => `other than ${JSON.stringify(found)}`;
    return eventually(clues, async () => {
      const { body } = await tenant.client.get(
        `/conversations?mailbox=${tenant.open.id}&per_page=100`,
      );
      found = (body.data as Found[]).find((record) => record.subject === subject);
      return found !== undefined && check(found) && found;
    });
  }

  it('act on mail within a second, explain themselves, and can be changed', async () => {
    const made = await tenant.client.post('/rules', {
      name: 'Invoices',
      kind: 'labeling',
      mailbox_ids: [tenant.open.id],
      conditions: [
        { field: 'subject', operator: 'matches', value: '(?i)invoice \\d+' },
        { field: 'header:X-Origin', operator: 'equals', value: 'shop' },
      ],
      actions: [
        { type: 'add_labels', labels: ['billing'] },
        { type: 'assign', user_id: tenant.member.id },
      ],
    });
    expect([made.status, made.body.version, made.headers.get('etag')]).toEqual([201, 1, '"1"']);
    const started = performance.now();
    await deliver('Invoice 66', 'X-Origin: shop\r\n');
    const found = await conversation('Invoice 66', ({ labels }) => labels.length > 0);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(found.assignee).toMatchObject({ type: 'user', id: tenant.member.id });
    expect(found.assignee!.name).not.toBe('');

    const runs = await tenant.client.get(`/conversations/${found.id}/rule-runs`);
    expect(runs.body.data).toMatchObject([
      {
        rule_id: made.body.id,
        matched: true,
        conditions: [
          { index: 0, actual: 'Invoice 66', matched: true },
          { index: 1, actual: 'shop', matched: true },
        ],
        actions: [{ type: 'add_labels', outcome: 'done' }, { type: 'assign' }],
      },
    ]);

    const stale = await tenant.client.call('PATCH', `/rules/${made.body.id}`, {
      body: { enabled: false },
      headers: { 'If-Match': '"7"' },
    });
    expect(stale.status).toBe(412);
    const changed = await tenant.client.call('PATCH', `/rules/${made.body.id}`, {
      body: { conditions: [], actions: [{ type: 'add_labels', labels: ['changed'] }] },
      headers: { 'If-Match': '"1"' },
    });
    expect(changed.body).toMatchObject({ version: 2, enabled: true, name: 'Invoices' });
    await deliver('Anything');
    // A rule as it was read can be sent back, with the fields that only Dak writes.
    const back = await tenant.client.call('PATCH', `/rules/${made.body.id}`, {
      body: changed.body,
    });
    expect([back.status, back.body.version]).toEqual([200, 2]);
    const next = await conversation('Anything', ({ labels }) => labels.length > 0);
    expect(next.labels).toEqual(['changed']);
    const { body } = await tenant.client.get(`/rules/${made.body.id}`);
    // Mail from within a second before the rule may have been looked at as well.
    expect(body.stats.matched).toBe(2);
    expect(body.stats.evaluated).toBeGreaterThanOrEqual(2);
    const versions = await tenant.client.get(`/rules/${made.body.id}/versions`);
    expect(versions.body.total).toBe(2);
    expect((await tenant.client.delete(`/rules/${made.body.id}`)).status).toBe(204);
  });

  it('tell the webhook that they name, whatever it subscribes to', async () => {
    const sink = await startWebhookSink();
    const webhook = await tenant.client.post('/webhooks', {
      url: sink.url,
      event_types: ['domain.verified'],
    });
    expect(webhook.status).toBe(201);
    const rule = await tenant.client.post('/rules', {
      name: 'Tell',
      conditions: [{ field: 'subject', operator: 'equals', value: 'Tell it' }],
      actions: [{ type: 'notify_webhook', webhook_id: webhook.body.id }],
    });
    expect(rule.status).toBe(201);
    await deliver('Tell it');
    await eventually(() => sink.requests.length > 0);
    await sink.close();
    expect(sink.requests.map(({ event }) => event)).toMatchObject([
      { type: 'rule.matched', data: { rule_id: rule.body.id, rule_name: 'Tell' } },
    ]);
  });

  it('of two mailboxes that forward to each other end after one round', async () => {
    const made = await tenant.client.post('/mailboxes', { address: `other@${tenant.domain}` });
    const other: { id: string; address: string } = made.body;
    const kind = { field: 'kind', operator: 'in', value: ['human', 'list', 'auto_reply'] };
    for (const [from, to] of [
      [tenant.open, other],
      [other, tenant.open],
    ] as const) {
      const { status } = await tenant.client.post('/rules', {
        name: `To ${to.address}`,
        kind: 'forwarding',
        mailbox_ids: [from.id],
        conditions: [kind, { field: 'subject', operator: 'contains', value: 'Round trip' }],
        actions: [{ type: 'forward', to: to.address }],
      });
      expect(status).toBe(201);
    }
    await deliver('Round trip');
    const skipped = async (): Promise<string[]> => {
      const { body } = await tenant.client.get('/rules?per_page=100');
      const found: string[] = [];
      for (const rule of body.data as { id: string }[]) {
        const runs = await tenant.client.get(`/rules/${rule.id}/runs?matched=true`);
        for (const run of runs.body.data as { actions: Outcome[] }[]) {
          for (const { outcome, error } of run.actions)
            if (outcome === 'skipped') found.push(error!);
        }
      }
      return found;
    };
    const reasons = await eventually(async () => {
      const found = await skipped();
      return found.length > 0 && found;
    });
    expect(reasons).toEqual([expect.stringContaining('it has come back')]);
  });

  it('are refused in a sentence that names the place', async () => {
    const base = { name: 'x', actions: [{ type: 'add_labels', labels: ['x'] }] };
    const someone = '00000000-0000-4000-8000-000000000000';
    for (const [body, sentence] of [
      [
        { ...base, conditions: [{ field: 'subject', operator: 'matches', value: '(' }] },
        /^conditions\[0\]\.value must be a regular expression/,
      ],
      [
        { ...base, conditions: [{ field: 'size_bytes', operator: 'contains', value: 'x' }] },
        /^conditions\[0\]\.operator contains does not fit size_bytes/,
      ],
      [{ ...base, kind: 'forwarding' }, /^actions must have forward/],
      [
        { ...base, actions: [{ type: 'assign', user_id: someone }] },
        /^actions\[0\]\.user_id is not a user/,
      ],
      [
        { ...base, actions: [{ type: 'set_department', department_id: someone }] },
        /^actions\[0\]\.department_id is not a department/,
      ],
      [
        { ...base, actions: [{ type: 'reply_with_template', template_id: someone }] },
        /^actions\[0\]\.template_id is not a template/,
      ],
      [
        { ...base, actions: [{ type: 'notify_webhook', webhook_id: someone }] },
        /^actions\[0\]\.webhook_id is not a webhook/,
      ],
      [
        { ...base, actions: [{ ...base.actions[0], label: 'x' }] },
        /^actions\[0\]\.label is not a member/,
      ],
    ] as const) {
      const reply = await tenant.client.post('/rules', body);
      expect([reply.status, reply.body.error]).toEqual([400, expect.stringMatching(sentence)]);
    }
  });

  it('can be tried on one message, and on the mail of the past', async () => {
    const rule = {
      name: 'Tried',
      conditions: [{ field: 'from', operator: 'ends_with', value: '@customer.example' }],
      actions: [
        { type: 'set_priority', priority: 'high' },
        { type: 'forward', to: 'a@b.example' },
      ],
    };
    await deliver('Tried out');
    const found = await conversation('Tried out', () => true);
    const { body: messages } = await tenant.client.get(`/conversations/${found.id}/messages`);
    const tested = await tenant.client.post('/rules/test', {
      rule,
      message_id: messages.data[0].id,
    });
    expect(tested.body).toMatchObject({
      matched: true,
      actions: [{ type: 'set_priority', outcome: 'planned' }, { type: 'forward' }],
    });
    const asked = await tenant.client.post('/rules/dry-run', { rule });
    expect(asked.status).toBe(202);
    const job = await eventually(async () => {
      const { body } = await tenant.client.get(`/rules/dry-run/${asked.body.id}`);
      return body.status !== 'running' && body;
    });
    expect(job).toMatchObject({ status: 'done', examined: job.progress.total });
    expect(job.matched).toBeGreaterThanOrEqual(3);
    expect((await conversation('Tried out', () => true)).priority).toBe('normal');
  });
});

interface Outcome {
  outcome: string;
  error: string | null;
}

interface Found {
  id: string;
  subject: string;
  labels: string[];
  priority: string;
  assignee: { type: string; id: string; name: string } | null;
}
