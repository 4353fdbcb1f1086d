import { Webhook } from 'standardwebhooks';
import type {
  CreatedWebhookRecord,
  WebhookAttemptRecord,
  WebhookDeliveryDetail,
} from '@dak/contracts/api';
import { ConversationUpdated, type EventEnvelope } from '@dak/contracts/events';
import { uuidv7, type Principal } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import {
  allRead,
  callOf,
  endpointRequest,
  listDeliveries,
  parsed,
  principalOf,
  publish,
  receivedEvent,
  startHookSink,
  startWebhookStack,
  type HookSink,
  type WebhookStack,
} from './webhook-fixtures';

describe('delivering events', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  beforeAll(async () => {
    stack = await startWebhookStack();
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    sink = await startHookSink();
  });
  afterEach(() => sink.close());

  async function create(
    change: object = {},
    principal = principalOf(uuidv7()),
  ): Promise<{ endpoint: CreatedWebhookRecord; principal: typeof principal }> {
    const document = await stack.api.createEndpoint(
      endpointRequest(`${sink.url}/hook`, change),
      callOf(principal),
    );
    return { endpoint: parsed<CreatedWebhookRecord>(document.json), principal };
  }

  const deliveriesOf = (principal: Principal, endpointId: string) =>
    listDeliveries(stack, principal, endpointId);

  /** Of all that was published, one event became a delivery, and arrived. */
  async function expectOnly(
    wanted: EventEnvelope,
    principal: Principal,
    { id }: CreatedWebhookRecord,
  ): Promise<void> {
    await allRead(stack);
    const made = (await deliveriesOf(principal, id)).map(({ event_id }) => event_id);
    expect(made).toEqual([wanted.id]);
    await eventually(() => sink.received.length > 0);
    expect(sink.received.map(({ event }) => event.id)).toEqual([wanted.id]);
  }

  it('sends the public event, signed, and writes the attempt down', async () => {
    const { endpoint, principal } = await create({
      ownSecret: true,
      headers: { 'X-Team': 'blue' },
    });
    expect(endpoint.secret).toMatch(/^whsec_/);
    const event = receivedEvent(principal.organizationId, { sequence: 7, subject: 'Grüße' });
    await publish(stack.log, event);
    await eventually(() => sink.received.length > 0);
    const [delivered] = sink.received;
    expect(delivered!.event).toMatchObject({
      id: event.id,
      type: 'mail.received',
      sequence: 7,
      organization_id: principal.organizationId,
      data: { subject: 'Grüße', conversation_id: event.conversationId },
    });
    expect(delivered!.headers).toMatchObject({ 'x-team': 'blue', 'webhook-id': event.id });
    new Webhook(endpoint.secret!).verify(delivered!.body, delivered!.headers);

    const [delivery] = await eventually(async () => {
      const all = await deliveriesOf(principal, endpoint.id);
      return all[0]?.state === 'delivered' ? all : null;
    }).then((all) => all ?? []);
    expect(delivery).toMatchObject({
      event_id: event.id,
      trigger: 'automatic',
      attempts: 1,
      status_code: 200,
      next_attempt_at: null,
    });
    const detail = await stack.api.getDelivery(
      { endpointId: endpoint.id, id: delivery!.id },
      callOf(principal),
    );
    expect(parsed<WebhookDeliveryDetail>(detail.json).body).toEqual(JSON.parse(delivered!.body));
    const attempts = await stack.api.listAttempts(
      { endpointId: endpoint.id, deliveryId: delivery!.id },
      callOf(principal),
    );
    expect(parsed<WebhookAttemptRecord[]>(attempts.dataJson)).toMatchObject([
      { number: 1, outcome: 'delivered', status_code: 200, error_code: null },
    ]);
  });

  it('makes nothing of an event that the log delivers twice', async () => {
    const { endpoint, principal } = await create();
    const event = receivedEvent(principal.organizationId);
    await publish(stack.log, event);
    await eventually(() => sink.received.length > 0);
    await publish(stack.log, event);
    await allRead(stack);
    expect(await deliveriesOf(principal, endpoint.id)).toHaveLength(1);
    expect(sink.received).toHaveLength(1);
  });

  it('sends what an endpoint asked for, and nothing of other organizations or imports', async () => {
    const mailboxId = uuidv7();
    const { endpoint, principal } = await create({
      mailboxIds: [mailboxId],
      eventTypes: ['mail.received'],
    });
    const { organizationId } = principal;
    const wanted = receivedEvent(organizationId, { mailboxId });
    await publish(
      stack.log,
      receivedEvent(organizationId),
      receivedEvent(uuidv7(), { mailboxId }),
      receivedEvent(organizationId, { mailboxId, imported: true }),
      wanted,
    );
    await expectOnly(wanted, principal, endpoint);
  });

  it('sends nothing of the conversations that an import brings', async () => {
    const { endpoint, principal } = await create();
    const { organizationId } = principal;
    const updated = (reason: string): EventEnvelope =>
      receivedEvent(organizationId, {
        type: 'conversation.updated',
        data: Buffer.from(
          ConversationUpdated.encode(ConversationUpdated.fromPartial({ reason })).finish(),
        ),
      });
    const wanted = updated('created');
    await publish(stack.log, updated('imported'), wanted);
    await expectOnly(wanted, principal, endpoint);
  });

  it('sends to a regular user what they may read now', async () => {
    const { endpoint, principal } = await create({}, principalOf(uuidv7(), { role: 'user' }));
    const { organizationId, userId } = principal;
    const [mine, others] = [receivedEvent(organizationId), receivedEvent(organizationId)];
    stack.readable.add(`${userId}/${mine.conversationId!}`);
    await publish(stack.log, others, mine);
    await expectOnly(mine, principal, endpoint);
  });

  it('tries again after a failure, on schedule', async () => {
    sink.answer = (_request, response) => {
      response.statusCode = sink.received.length === 1 ? 500 : 200;
      response.end(sink.received.length === 1 ? 'no luck' : 'ok');
    };
    const { endpoint, principal } = await create();
    await publish(stack.log, receivedEvent(principal.organizationId));
    const [waiting] = await eventually(async () => {
      const all = await deliveriesOf(principal, endpoint.id);
      return all[0]?.attempts === 1 ? all : null;
    });
    expect(waiting).toMatchObject({
      state: 'pending',
      status_code: 500,
      error_code: 'server_error',
    });
    const wait = Date.parse(waiting!.next_attempt_at!) - Date.now();
    expect(wait).toBeGreaterThan(3_000);
    expect(wait).toBeLessThan(6_001);
    await stack.sql.query(`update delivery set next_at = now() where id = $1`, [waiting!.id]);
    await eventually(() => sink.received.length === 2);
    expect(sink.received[1]!.body).toBe(sink.received[0]!.body);
    const [done] = await eventually(async () => {
      const all = await deliveriesOf(principal, endpoint.id);
      return all[0]?.state === 'delivered' ? all : null;
    });
    expect(done!.attempts).toBe(2);
    const attempts = parsed<WebhookAttemptRecord[]>(
      (
        await stack.api.listAttempts(
          { endpointId: endpoint.id, deliveryId: done!.id },
          callOf(principal),
        )
      ).dataJson,
    );
    expect(attempts.map(({ outcome, response_start }) => [outcome, response_start])).toEqual([
      ['retry', 'no luck'],
      ['delivered', null],
    ]);
  });

  it('disables an endpoint that answers 410 and cancels what waits for it', async () => {
    sink.answer = (_request, response) => {
      response.statusCode = 410;
      response.end();
    };
    const { endpoint, principal } = await create({ maxConcurrency: 1 });
    await publish(
      stack.log,
      ...Array.from({ length: 5 }, () => receivedEvent(principal.organizationId)),
    );
    const record = await eventually(async () => {
      const { json } = await stack.api.getEndpoint({ id: endpoint.id }, callOf(principal));
      const now = parsed<CreatedWebhookRecord>(json);
      return now.status === 'disabled' ? now : null;
    });
    expect(record).toMatchObject({ status: 'disabled', disabled_reason: 'gone', enabled: true });
    const states = (await deliveriesOf(principal, endpoint.id)).map(({ state }) => state);
    expect(states.filter((state) => state === 'failed').length).toBeGreaterThan(0);
    expect(states.every((state) => state === 'failed' || state === 'canceled')).toBe(true);
    expect(sink.received.length).toBeLessThan(5);
  });
});
