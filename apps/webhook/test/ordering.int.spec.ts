import type { CreatedWebhookRecord } from '@dak/contracts/api';
import type { EventEnvelope } from '@dak/contracts/events';
import { uuidv7, type Principal } from '@dak/kernel';
import { eventually, slowPeer } from '@dak/testing/waiting';
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

describe('ordered endpoints', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  let principal: Principal;
  let endpoint: CreatedWebhookRecord;
  beforeAll(async () => {
    stack = await startWebhookStack();
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    sink = await startHookSink();
    principal = principalOf(uuidv7());
    const request = endpointRequest(sink.url, { ordering: 'conversation' });
    const { json } = await stack.api.createEndpoint(request, callOf(principal));
    endpoint = parsed<CreatedWebhookRecord>(json);
  });
  afterEach(() => sink.close());

  /** Events 1 to `count` of a conversation. */
  function conversation(count: number): EventEnvelope[] {
    const conversationId = uuidv7();
    return Array.from({ length: count }, (_, i) =>
      receivedEvent(principal.organizationId, { conversationId, sequence: i + 1 }),
    );
  }
  const sequencesOf = (events: readonly EventEnvelope[]): number[] =>
    sink.received
      .filter(({ event }) => event.data['conversation_id'] === events[0]!.conversationId)
      .map(({ event }) => event.sequence);

  it('get the events of a conversation one after the other, in order', async () => {
    let underWay = new Set<string>();
    let overlaps = 0;
    sink.answer = async ({ event }, response) => {
      const key = String(event.data['conversation_id']);
      if (underWay.has(key)) overlaps += 1;
      underWay.add(key);
      await slowPeer(Math.random() * 15);
      underWay.delete(key);
      response.end();
    };
    const conversations = Array.from({ length: 6 }, () => conversation(5));
    const mixed = Array.from({ length: 5 }, (_, i) => conversations.map((events) => events[i]!));
    await publish(stack.log, ...mixed.flat());
    await eventually(() => sink.received.length >= 30);
    underWay = new Set();
    expect(overlaps).toBe(0);
    for (const events of conversations) expect(sequencesOf(events)).toEqual([1, 2, 3, 4, 5]);
  });

  it('wait with a conversation whose head fails, and with no other', async () => {
    const [stuck, flowing] = [conversation(3), conversation(3)];
    let isDown = true;
    sink.answer = ({ event }, response) => {
      const fails = isDown && event.id === stuck[1]!.id;
      response.statusCode = fails ? 500 : 200;
      response.end();
    };
    await publish(stack.log, ...stuck, ...flowing);
    await eventually(() => sequencesOf(flowing).length === 3 && sequencesOf(stuck).length === 2);
    const later = conversation(1);
    await publish(stack.log, ...later);
    await eventually(() => sequencesOf(later).length === 1);
    expect(sequencesOf(stuck)).toEqual([1, 2]);
    isDown = false;
    await makeDue(stack, endpoint.id);
    await eventually(() => sequencesOf(stuck).length === 4);
    expect(sequencesOf(stuck)).toEqual([1, 2, 2, 3]);
  });

  it('go on without an event that failed for an hour, and say so once', async () => {
    const events = conversation(4);
    sink.answer = ({ event }, response) => {
      response.statusCode = event.id === events[1]!.id ? 500 : 200;
      response.end();
    };
    await publish(stack.log, ...events);
    await eventually(() => sequencesOf(events).length === 2);
    await eventually(async () =>
      (await listDeliveries(stack, principal, endpoint.id)).some(
        ({ attempts, state }) => attempts === 1 && state === 'pending',
      ),
    );
    await stack.sql.query(
      `update delivery set first_attempt_at = now() - interval '2 hours' where endpoint_id = $1 and event_id = $2`,
      [endpoint.id, events[1]!.id],
    );
    await makeDue(stack, endpoint.id);
    await eventually(() => sequencesOf(events).length === 5);
    expect(sequencesOf(events)).toEqual([1, 2, 2, 3, 4]);
    expect(sink.received.map(({ headers }) => headers['webhook-gap'])).toEqual([
      undefined,
      undefined,
      undefined,
      'true',
      undefined,
    ]);
    const states = await eventually(async () => {
      const all = await listDeliveries(stack, principal, endpoint.id);
      return all.every(({ state }) => state !== 'pending') ? all : null;
    });
    expect(
      Object.fromEntries(states.map(({ event_id, state, gap }) => [event_id, [state, gap]])),
    ).toEqual({
      [events[0]!.id]: ['delivered', false],
      [events[1]!.id]: ['skipped', false],
      [events[2]!.id]: ['delivered', true],
      [events[3]!.id]: ['delivered', false],
    });
  });
});
