import {
  startOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from '@dak/testing/otlp-receiver';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';

const CLIENT = 3;
const SERVER = 2;

/** Names from the first span of a trace down to this one. */
function pathTo(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  if (parent === undefined && span.parentSpanId !== '') return ['?', span.name];
  return parent === undefined ? [span.name] : [...pathTo(parent, spans), span.name];
}

describeOnBothRuns('a mail can be followed', (startStack) => {
  let receiver: OtlpReceiver;
  let sink: WebhookSink;
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    sink = await startWebhookSink();
    stack = await startStack({ otlpEndpoint: receiver.url });
    tenant = await createTenant(stack, 'marktrace');
  }, 120_000);
  afterAll(async () => {
    expect(stack.failures).toEqual([]);
    await stack.close();
    await sink.close();
    await receiver.close();
  });

  const spansOf = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

  /** Every way from the beginning of the trace, as soon as these are among them. */
  async function pathsOf(traceId: string, wanted: readonly string[]): Promise<string[]> {
    let paths: string[] = [];
    await eventually(
      () => `${wanted.join('\n')}\namong\n${paths.join('\n')}`,
      async () => {
        const spans = spansOf(traceId);
        paths = spans.map((span) => pathTo(span, spans).join(' > '));
        return wanted.every((path) => paths.includes(path));
      },
    );
    return paths;
  }

  it('from SMTP through the pipeline, its rules and local delivery to the receiver of a webhook', async () => {
    const { memberClient, client, open, closed } = tenant;
    const rule = await client.post('/rules', {
      name: 'followed',
      mailbox_ids: [open.id],
      conditions: [{ field: 'subject', operator: 'contains', value: 'follow me' }],
      actions: [
        { type: 'add_labels', labels: ['followed'] },
        { type: 'forward', to: closed.address },
      ],
    });
    expect(rule.status).toBe(201);
    // Its owner is no admin: who may read is asked of the mail service.
    const webhook = await memberClient.post('/webhooks', {
      url: sink.url,
      event_types: ['mail.received', 'conversation.updated', 'rule.matched', 'mail.sent'],
      mailbox_ids: [open.id],
    });
    expect(webhook.status).toBe(201);
    const raw = `From: Ada <ada@elsewhere.example>\r\nTo: ${open.address}\r\nSubject: follow me\r\nMessage-ID: <${tenant.unique()}@elsewhere.example>\r\n\r\nhello\r\n`;
    const reply = await sendMail(stack.smtpPort, { to: [open.address], raw });
    expect(reply).toMatch(/^250/);

    const arrival = 'smtp accept > pipeline run';
    const rules = `${arrival} > rules consume mail.received`;
    const forwarded = `${rules} > deliver local`;
    const webhooks = (event: string) => `webhooks consume ${event}`;
    const findReaders = 'dak.mail.v1.VisibilityService/FindReaders';
    const received = await eventually('the webhook', async () =>
      sink.requests.find(
        ({ event }) => event.type === 'mail.received' && event.data['subject'] === 'follow me',
      ),
    );
    const traceId = received.headers['traceparent']!.split('-')[1]!;
    const paths = await pathsOf(traceId, [
      `${arrival} > read message`,
      rules,
      `${arrival} > analytics consume mail.received`,
      `${arrival} > ${webhooks('mail.received')} > webhook POST`,
      `${rules} > ${webhooks('rule.matched')} > webhook POST`,
      `${rules} > ${webhooks('conversation.updated')} > webhook POST`,
      `${forwarded} > ${webhooks('mail.sent')} > webhook POST`,
      // What was forwarded to a mailbox of this deployment goes on in the same trace.
      `${forwarded} > pipeline run > rules consume mail.received`,
    ]);
    expect(paths.filter((path) => path.startsWith('?'))).toEqual([]);
    expect(paths.filter((path) => path === 'smtp accept')).toHaveLength(1);

    const spans = spansOf(traceId);
    const [accept] = spans.filter(({ name }) => name === 'smtp accept');
    expect(reply).toContain(accept!.attributes['dak.queue_id']);
    const posts = spans.filter(({ name }) => name === 'webhook POST');
    expect(posts.map(({ spanId }) => spanId)).toContain(
      received.headers['traceparent']!.split('-')[2],
    );
    expect(posts[0]).toMatchObject({ kind: CLIENT, statusCode: 0 });
    // One question for several events is seen in the trace of the first.
    await eventually('the question who may read, at both ends', async () =>
      receiver.spans.some(
        (span) =>
          span.name === findReaders &&
          span.kind === SERVER &&
          /> webhooks consume [\w.]+ > [\w./]+ > [\w./]+$/.test(
            pathTo(span, receiver.spans).join(' > '),
          ),
      ),
    );
    // Whose mail it is, no trace says.
    expect(JSON.stringify(spans)).not.toMatch(/@|marktrace/);

    const conversationId = String(received.event.data['conversation_id']);
    const runs = await client.get(`/conversations/${conversationId}/rule-runs`);
    expect(runs.body.data).toMatchObject([{ rule_id: rule.body.id, trace_id: traceId }]);
  });

  it('a request goes on with the trace of its caller, through the call and what it leads to', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const composed = await fetch(`${stack.siteUrl}/api/v1/compose/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key}`,
        'content-type': 'application/json',
        'idempotency-key': tenant.unique(),
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({
        mailbox_id: tenant.open.id,
        to: ['somebody@elsewhere.example'],
        subject: 'out',
        body_text: 'out',
        undo_seconds: 0,
      }),
    });
    expect(composed.status).toBe(201);
    const call = 'dak.mail.v1.SubmissionService/Compose';
    const request = `? > POST /compose/send`;
    await pathsOf(traceId, [
      `${request} > ${call} > ${call}`,
      `${request} > ${call} > ${call} > deliver capture`,
      `${request} > ${call} > ${call} > deliver capture > analytics consume mail.sent`,
    ]);
  });
});
