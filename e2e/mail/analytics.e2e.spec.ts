import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';

/** From the API showing what happened to the numbers that count it. */
const VISIBLE_WITHIN_MS = 2_000;
const MAILS_PER_CONVERSATION = 2;
const STOCK = 2;
const CONVERSATIONS = STOCK + 1;

describeOnBothRuns('analytics', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'numbers', STOCK);
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  it('shows mail that was received, answered and resolved within two seconds', async () => {
    const { id } = tenant.open.takeConversation();
    const name = '=cmd|calc';
    const { body: person } = await tenant.client.post('/settings/users', {
      email: 'formula@numbers.example',
      display_name: name,
    });
    await tenant.client.post(`/conversations/${id}/assign`, {
      assignee: { type: 'user', id: person.id, name },
    });
    const answered = Date.now();
    await tenant.client.post(`/conversations/${id}/reply`, { body_text: 'Try another bulb.' });
    await tenant.client.patch(`/conversations/${id}`, { status: 'resolved' });
    await eventually('the answer has left', async () => {
      const { body } = await tenant.client.get(`/conversations/${id}/messages`);
      return body.data.some((message: { status: string }) => message.status === 'sent');
    });
    const received = 2 * CONVERSATIONS * MAILS_PER_CONVERSATION;
    // Conversations are read beside each other, each in its own order.
    const totals = await soon(
      ({ totals: all }) =>
        all.conversations_resolved === 1 && all.sent === 1 && all.received === received,
    );
    expect(totals.totals).toMatchObject({
      received,
      sent: 1,
      failed: 0,
      conversations_opened: 2 * CONVERSATIONS,
      conversations_resolved: 1,
      backlog: 2 * CONVERSATIONS - 1,
      first_response_seconds: { count: 1 },
      resolution_seconds: { count: 1 },
    });
    const { p50 } = totals.totals.first_response_seconds;
    expect(p50).toBeGreaterThan(0);
    expect(p50).toBeLessThan((Date.now() - answered) / 1000 + 60);
    expect(totals.by_assignee[0]).toMatchObject({ assignee: null });
    expect(totals.by_assignee[1]).toMatchObject({
      assignee: { type: 'user', id: person.id },
      conversations_resolved: 1,
    });

    const csv = await tenant.client.get('/reports/workload', { Accept: 'text/csv' });
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(csv.headers.get('content-disposition')).toContain('workload.csv');
    const json = await tenant.client.get('/reports/workload');
    const text = await csvOf('/reports/workload');
    const [header, ...lines] = text.trimEnd().split('\r\n');
    expect(header).toBe(json.body.columns.join(','));
    expect(lines).toHaveLength(json.body.rows.length);
    expect(text).toContain(`'${name}`);
    for (const line of lines) expect(line).not.toMatch(/(^|,)"?[=+@]/);
  }, 30_000);

  it('counts a bounce of the mail that was sent', async () => {
    const { id } = tenant.open.takeConversation();
    const { body: reply } = await tenant.client.post(`/conversations/${id}/reply`, {
      body_text: 'See the attached offer.',
    });
    const { body: message } = await tenant.client.get(`/conversations/${id}/messages/${reply.id}`);
    await sendMail(stack.smtpPort, {
      from: '',
      to: [tenant.open.address],
      raw: deliveryReport(message.message_id_header, message.to[0].email),
    });
    await eventually('the report is stored', async () => {
      const { body } = await tenant.client.get(
        `/conversations?mailbox=${tenant.open.id}&q=Undelivered`,
      );
      return body.data.length > 0;
    });
    const { totals } = await soon((body) => body.totals.bounced === 1);
    expect(totals).toMatchObject({ bounced: 1, complained: 0 });
  }, 30_000);

  it('gives a user the numbers of what that user can read', async () => {
    const { body } = await tenant.memberClient.get('/analytics/overview?granularity=month');
    expect(body.totals.received).toBe(CONVERSATIONS * MAILS_PER_CONVERSATION + 1);
    expect(body.by_mailbox.map((row: { mailbox_id: string }) => row.mailbox_id)).toEqual([
      tenant.open.id,
    ]);
    const closed = await tenant.memberClient.get(`/analytics/overview?mailbox=${tenant.closed.id}`);
    expect(closed.body.totals).toMatchObject({ received: 0, backlog: 0 });
  });

  it('refuses what it cannot answer with a sentence', async () => {
    const refused = await tenant.client.get('/analytics/overview?from=2026-01-02&to=2026-01-01');
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({ error: 'from must be before to.' });
    expect((await tenant.client.get('/analytics/overview?from=soon')).status).toBe(400);
    expect((await tenant.client.get('/reports/everything')).status).toBe(404);
  });

  it('has logged no failure', () => {
    expect(stack.failures).toEqual([]);
  });

  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies of the API are checked against its document */
  async function soon(isShown: (body: any) => boolean) {
    let totals: unknown;
    const clues = () => `other than ${JSON.stringify(totals)}`;
    const ask = async () => {
      const { body } = await tenant.client.get('/analytics/overview');
      totals = body.totals;
      return isShown(body) && body;
    };
    return eventually(clues, ask, VISIBLE_WITHIN_MS);
  }

  async function csvOf(path: string): Promise<string> {
    const response = await fetch(`${stack.siteUrl}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${tenant.key}`, Accept: 'text/csv' },
    });
    return response.text();
  }
});

function deliveryReport(messageId: string, recipient: string): string {
  return [
    'From: Mail Delivery System <mailer-daemon@elsewhere.example>',
    'Subject: Undelivered mail',
    `Message-ID: <dsn-${messageId}>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.elsewhere.example',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 user unknown',
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: <${messageId}>`,
    '',
    '--b--',
    '',
  ].join('\r\n');
}
