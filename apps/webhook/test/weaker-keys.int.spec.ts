import type { CreatedWebhookRecord, WebhookReplayRecord } from '@dak/contracts/api';
import { MailSent } from '@dak/contracts/events';
import { uuidv7, type Principal, type Scope } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import {
  callOf,
  endpointRequest,
  makeDue,
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

describe('a webhook that a weaker key turns elsewhere', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  let admin: Principal;
  let endpoint: CreatedWebhookRecord;
  beforeAll(async () => {
    stack = await startWebhookStack();
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    sink = await startHookSink();
    admin = principalOf(uuidv7(), { type: 'session' });
    const request = endpointRequest(`${sink.url}/ours`);
    endpoint = parsed((await stack.api.createEndpoint(request, callOf(admin))).json);
  });
  afterEach(() => sink.close());

  const keyWith = (...scopes: Scope[]): Principal => ({
    ...admin,
    type: 'api_key',
    credentialId: uuidv7(),
    scopes: ['webhooks.manage', ...scopes],
  });
  const received = () => receivedEvent(admin.organizationId);
  const blindCopy = () =>
    receivedEvent(admin.organizationId, {
      type: 'mail.sent',
      data: Buffer.from(
        MailSent.encode(
          MailSent.fromPartial({ recipient: 'secret@boss.example', blindCopy: true }),
        ).finish(),
      ),
    });
  const turn = (key: Principal, eventTypes: string[]) =>
    stack.api.updateEndpoint(
      {
        ...endpointRequest(`${sink.url}/theirs`, { eventTypes }),
        id: endpoint.id,
        fields: ['url', 'event_types'],
      },
      callOf(key),
    );
  const settled = (principal: Principal) =>
    eventually(async () => {
      const all = await listDeliveries(stack, principal, endpoint.id);
      return all.length > 0 && all.every(({ state }) => state !== 'pending') ? all : null;
    });
  const replay = async (key: Principal): Promise<WebhookReplayRecord> => {
    const { json } = await stack.api.startReplay(
      {
        endpointId: endpoint.id,
        since: new Date(Date.now() - 60_000),
        eventTypes: [],
        onlyFailed: false,
      },
      callOf(key),
    );
    const { id } = parsed<WebhookReplayRecord>(json);
    return await eventually(async () => {
      const reply = await stack.api.getReplay({ endpointId: endpoint.id, id }, callOf(key));
      const now = parsed<WebhookReplayRecord>(reply.json);
      return now.state === 'done' ? now : null;
    });
  };
  const theirs = () => sink.received.filter(({ path }) => path === '/theirs');

  it('does not get again what the key may not read', async () => {
    await publish(stack.log, received(), received());
    await eventually(() => sink.received.length === 2);
    const [first] = await settled(admin);
    const thief = keyWith();
    await turn(thief, ['agent.action']);
    expect(await replay(thief)).toMatchObject({ examined: 2, queued: 0 });
    await expect(
      stack.api.retryDelivery({ endpointId: endpoint.id, id: first!.id }, callOf(thief)),
    ).rejects.toMatchObject({ code: 'owner_cannot_read' });
    // A test comes after all that was queued before.
    await stack.api.sendTest({ id: endpoint.id, eventType: 'domain.verified' }, callOf(thief));
    await eventually(() => theirs().length > 0);
    expect(theirs().map(({ event }) => event.type)).toEqual(['domain.verified']);
  });

  it('does not get what waits for another attempt', async () => {
    sink.answer = ({ path }, response) => {
      response.statusCode = path === '/ours' ? 503 : 200;
      response.end();
    };
    const event = received();
    await publish(stack.log, event);
    await eventually(() => sink.received.length === 1);
    await turn(keyWith(), ['agent.action']);
    await makeDue(stack, endpoint.id);
    expect(await settled(admin)).toEqual([
      expect.objectContaining({
        event_id: event.id,
        state: 'canceled',
        error_code: 'owner_cannot_read',
      }),
    ]);
    expect(theirs()).toHaveLength(0);
  });

  it('gets mail again, but no blind copies, with mail.read alone', async () => {
    const mail = received();
    await publish(stack.log, mail, blindCopy());
    await eventually(() => sink.received.length === 2);
    await settled(admin);
    const reader = keyWith('mail.read');
    await turn(reader, []);
    expect(await replay(reader)).toMatchObject({ examined: 2, queued: 1 });
    await eventually(() => theirs().length > 0);
    expect(theirs().map(({ event }) => event.id)).toEqual([mail.id]);
  });
});
