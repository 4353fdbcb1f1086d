import type { CreatedWebhookRecord, WebhookDeliveryDetail } from '@dak/contracts/api';
import { UnavailableError, uuidv7, type Principal } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import { eventually } from '@dak/testing/waiting';
import { disableEndpoint } from '../src/endpoints/disable-endpoint-store';
import { insertDeliveries } from '../src/fan-out/fan-out-store';
import { replayRound } from '../src/replays/replay-worker';
import type { VisibilityClient } from '@dak/platform/visibility';
import {
  allRead,
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
  visibilityOf,
  type HookSink,
  type WebhookStack,
} from './webhook-fixtures';

describe('an event that the owner may no longer read', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  let owner: Principal;
  let isMailAway = false;
  const readable = new Set<string>();
  const visibility: VisibilityClient = {
    async findReaders(request, options) {
      if (isMailAway) throw new UnavailableError('The mail service is away.');
      return visibilityOf(readable).findReaders(request, options);
    },
  };
  let database: Database;
  beforeAll(async () => {
    stack = await startWebhookStack({ visibility });
    database = new Database({ url: stack.databaseUrl, applicationName: 'test' });
  });
  afterAll(async () => {
    await database.close();
    await stack.close();
  });
  beforeEach(async () => {
    isMailAway = false;
    sink = await startHookSink();
    owner = principalOf(uuidv7(), { role: 'user' });
  });
  afterEach(() => sink.close());

  async function create(): Promise<CreatedWebhookRecord> {
    const request = endpointRequest(`${sink.url}/hook`);
    return parsed<CreatedWebhookRecord>(
      (await stack.api.createEndpoint(request, callOf(owner))).json,
    );
  }

  /** Mail that the owner may read, once its first attempt is written down. */
  async function attempted(endpointId: string) {
    const event = receivedEvent(owner.organizationId);
    const key = `${owner.userId}/${event.conversationId!}`;
    readable.add(key);
    await publish(stack.log, event);
    const delivery = await eventually(async () => {
      const all = await listDeliveries(stack, owner, endpointId);
      return all.find(({ event_id, attempts }) => event_id === event.id && attempts > 0);
    });
    return { event, key, id: delivery.id };
  }

  const refuse = (): void => {
    sink.answer = (_request, response) => {
      response.statusCode = 500;
      response.end();
    };
  };

  it('is not shown as the body of a delivery, but to administrators', async () => {
    const endpoint = await create();
    const { key, id } = await attempted(endpoint.id);
    const read = async (principal: Principal) =>
      parsed<WebhookDeliveryDetail>(
        (await stack.api.getDelivery({ endpointId: endpoint.id, id }, callOf(principal))).json,
      );
    expect((await read(owner)).body).toMatchObject({ type: 'mail.received' });
    expect(await read({ ...owner, scopes: ['webhooks.manage'] })).toMatchObject({ id, body: null });
    readable.delete(key);
    await expect(read(owner)).rejects.toMatchObject({ kind: 'not_found' });
    const admin = principalOf(owner.organizationId);
    expect((await read(admin)).body).toMatchObject({ type: 'mail.received' });
  });

  it('is not sent again by the schedule: it is canceled, and what they may read is sent', async () => {
    refuse();
    const endpoint = await create();
    const lost = await attempted(endpoint.id);
    const kept = await attempted(endpoint.id);
    readable.delete(lost.key);
    await makeDue(stack, endpoint.id);
    await eventually(() => sink.received.length === 3);
    const canceled = await eventually(async () => {
      const all = await listDeliveries(stack, owner, endpoint.id);
      return all.find(({ state }) => state === 'canceled');
    });
    expect(canceled).toMatchObject({
      event_id: lost.event.id,
      attempts: 1,
      error_code: 'owner_cannot_read',
    });
    expect(sink.received[2]!.event.id).toBe(kept.event.id);
  });

  it('is not sent while it is unknown who may read it', async () => {
    refuse();
    const endpoint = await create();
    const { id } = await attempted(endpoint.id);
    isMailAway = true;
    await makeDue(stack, endpoint.id);
    const nextAt = async (): Promise<number> =>
      Date.parse((await listDeliveries(stack, owner, endpoint.id))[0]!.next_attempt_at!);
    expect(await eventually(async () => (await nextAt()) > Date.now() + 5_000)).toBe(true);
    expect(sink.received).toHaveLength(1);
    isMailAway = false;
    await stack.sql.query('update delivery set next_at = now() where id = $1', [id]);
    await eventually(() => sink.received.length === 2);
    expect(sink.received).toHaveLength(2);
  });

  it('ends no replay but its own', async () => {
    const [first, second] = [await create(), await create()];
    await attempted(first.id);
    await eventually(() => sink.received.length === 2);
    const admin = { ...principalOf(owner.organizationId), userId: uuidv7() };
    const theirs = parsed<CreatedWebhookRecord>(
      (await stack.api.createEndpoint(endpointRequest(`${sink.url}/admin`), callOf(admin))).json,
    );
    isMailAway = true;
    for (const endpointId of [first.id, second.id, theirs.id]) {
      await stack.api.startReplay(
        { endpointId, since: new Date(Date.now() - 60_000), eventTypes: [], onlyFailed: false },
        callOf(admin),
      );
    }
    const errors: unknown[] = [];
    await replayRound({
      database,
      visibility,
      onChanged: () => undefined,
      onError: (error) => errors.push(error),
    });
    const states = async () =>
      new Map(
        (
          await stack.sql.query<{ endpoint_id: string; state: string }>(
            'select endpoint_id, state from replay where organization_id = $1',
            [owner.organizationId],
          )
        ).rows.map((row) => [row.endpoint_id, row.state]),
      );
    await eventually(async () => (await states()).get(theirs.id) === 'done');
    expect(errors.length).toBeGreaterThan(0);
    expect(Object.fromEntries(await states())).toEqual({
      [first.id]: 'running',
      [second.id]: 'running',
      [theirs.id]: 'done',
    });
  });

  it('is not queued by a process that read the endpoint before it was disabled', async () => {
    const endpoint = await create();
    await disableEndpoint(database, endpoint.id, 'failing');
    const id = uuidv7();
    await database.batchAsWorker([
      insertDeliveries([
        {
          organization_id: owner.organizationId,
          endpoint_id: endpoint.id,
          id,
          event_id: `evt_${id}`,
          event_type: 'mail.received',
          trigger: 'automatic',
          replay_id: null,
          state: 'pending',
          order_key: null,
          order_seq: 0,
          error_code: null,
        },
      ]),
    ]);
    expect(await listDeliveries(stack, owner, endpoint.id)).toMatchObject([
      { id, state: 'canceled', error_code: 'endpoint_disabled' },
    ]);
    // As if it had been queued at the very moment of disabling.
    await stack.sql.query(
      `update delivery set state = 'pending', finished_at = null where id = $1`,
      [id],
    );
    await stack.api.updateEndpoint(
      { ...endpointRequest(sink.url), id: endpoint.id, fields: ['enabled'] },
      callOf(owner),
    );
    expect(await listDeliveries(stack, owner, endpoint.id)).toMatchObject([{ state: 'canceled' }]);
  });

  it('is nothing that happened before the endpoint was made', async () => {
    const endpoint = await create();
    const early = receivedEvent(owner.organizationId, { occurredAt: new Date(Date.now() - 5_000) });
    readable.add(`${owner.userId}/${early.conversationId!}`);
    await publish(stack.log, early);
    const { event } = await attempted(endpoint.id);
    await allRead(stack);
    expect((await listDeliveries(stack, owner, endpoint.id)).map((one) => one.event_id)).toEqual([
      event.id,
    ]);
  });
});
