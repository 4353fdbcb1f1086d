import type { CreatedWebhookRecord, WebhookRecord } from '@dak/contracts/api';
import { UnavailableError, systemClock, uuidv7, type Principal } from '@dak/kernel';
import { createGuardedHttp, parseAllowance } from '@dak/platform/guarded-http';
import { Database } from '@dak/platform/postgres';
import { eventually, slowPeer } from '@dak/testing/waiting';
import { Dispatcher } from '../src/lanes/dispatcher';
import { createSealing } from '../src/secrets/sealing';
import { SECRET } from './service-secret';
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

describe('lanes', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  let admin: Principal;
  let mailIsAway = false;
  let askedInVain = 0;
  beforeAll(async () => {
    const readable = new Set<string>();
    const visibility = visibilityOf(readable);
    stack = await startWebhookStack({
      visibility: {
        findReaders: (request, options) => {
          if (mailIsAway) {
            askedInVain += 1;
            return Promise.reject(new UnavailableError('The mail service is away.'));
          }
          return visibility.findReaders(request, options);
        },
      },
    });
    stack.readable = readable;
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    sink = await startHookSink();
    admin = principalOf(uuidv7());
  });
  afterEach(() => sink.close());

  async function create(path: string, change: object = {}, principal = admin): Promise<string> {
    const request = endpointRequest(sink.url + path, change);
    const { json } = await stack.api.createEndpoint(request, callOf(principal));
    return parsed<CreatedWebhookRecord>(json).id;
  }
  const read = async (id: string): Promise<WebhookRecord> =>
    parsed<WebhookRecord>((await stack.api.getEndpoint({ id }, callOf(admin))).json);

  it('stop sending while nothing answers, and go on with a probe; no delivery loses an attempt meanwhile', async () => {
    let isDown = true;
    sink.answer = ({ path }, response) => {
      response.statusCode = isDown && path === '/down' ? 500 : 200;
      response.end();
    };
    const id = await create('/down');
    const sent = (path = '/down'): number =>
      sink.received.filter((request) => request.path === path).length;
    const attempts = async (): Promise<number> =>
      (await listDeliveries(stack, admin, id)).reduce((sum, one) => sum + one.attempts, 0);
    const events = Array.from({ length: 40 }, () => receivedEvent(admin.organizationId));
    for (const event of events) await publish(stack.log, event);
    const open = await eventually(async () => {
      const now = await read(id);
      return now.breaker.state === 'open' ? now : null;
    });
    expect(open.breaker.next_probe_at).not.toBeNull();
    // An endpoint gets what happened up to a second before it, if that is read only now.
    await allRead(stack);
    await eventually(async () => (await attempts()) === sent());
    const before = sent();
    await create('/other');
    await publish(stack.log, receivedEvent(admin.organizationId));
    await eventually(() => sent('/other') === 1);
    await makeDue(stack, id);
    await publish(stack.log, receivedEvent(admin.organizationId));
    await eventually(() => sent('/other') === 2);
    expect(sent()).toBe(before);
    expect(await attempts()).toBe(before);

    // Another URL begins with a clean record.
    isDown = false;
    await stack.api.updateEndpoint(
      { id, fields: ['url'], ...endpointRequest(`${sink.url}/up`) },
      callOf(admin),
    );
    await makeDue(stack, id);
    await eventually(async () =>
      (await listDeliveries(stack, admin, id)).every(({ state }) => state === 'delivered'),
    );
    expect(await read(id)).toMatchObject({ breaker: { state: 'closed' }, first_failure_at: null });
  });

  it('do not wait for each other: one that hangs delays no other', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    sink.answer = async ({ path }, response) => {
      if (path === '/hangs') await released;
      response.end();
    };
    await create('/hangs', { timeoutMs: 30_000, maxConcurrency: 4 });
    for (let i = 0; i < 9; i += 1) await create(`/quick-${i}`);
    const events = Array.from({ length: 50 }, () => receivedEvent(admin.organizationId));
    await publish(stack.log, ...events);
    const of = (hanging: boolean): number =>
      sink.received.filter(({ path }) => (path === '/hangs') === hanging).length;
    await eventually(() => of(false) === 50 * 9);
    expect(of(true)).toBe(4);
    release();
    await eventually(() => of(true) === 50);
    expect(new Set(sink.received.map(({ path, event }) => `${path} ${event.id}`)).size).toBe(500);
    expect(sink.received).toHaveLength(500);
  });

  it('keep within the rate and the concurrency of their endpoint', async () => {
    let underWay = 0;
    let most = 0;
    sink.answer = async (_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await slowPeer(30);
      underWay -= 1;
      response.end();
    };
    await create('/narrow', { maxConcurrency: 2, ratePerSecond: 20 });
    const start = Date.now();
    await publish(
      stack.log,
      ...Array.from({ length: 40 }, () => receivedEvent(admin.organizationId)),
    );
    await eventually(() => sink.received.length === 40);
    expect(most).toBe(2);
    // A second's worth at once, the rest at 20 per second.
    expect(Date.now() - start).toBeGreaterThan(900);
  });

  it('wait while it is unknown who may read: nothing is sent unchecked, nothing is lost', async () => {
    const owner = principalOf(admin.organizationId, { role: 'user' });
    await create('/mine', {}, owner);
    const event = receivedEvent(admin.organizationId);
    stack.readable.add(`${owner.userId}/${event.conversationId!}`);
    mailIsAway = true;
    await publish(stack.log, event);
    await eventually(() => askedInVain >= 3);
    expect(sink.received).toHaveLength(0);
    mailIsAway = false;
    await eventually(() => sink.received.length === 1);
    expect(sink.received[0]!.event.id).toBe(event.id);
  });

  it('ignore results of a former owner: they leave no trace', async () => {
    const id = await create('/slow', { enabled: false });
    const open = async () => {
      const database = new Database({ url: stack.databaseUrl, applicationName: 'other' });
      const http = createGuardedHttp({ allow: parseAllowance('127.0.0.1') });
      const dispatcher = new Dispatcher({
        database,
        http,
        sealing: createSealing(SECRET),
        visibility: visibilityOf(stack.readable),
        clock: systemClock,
        onError: () => undefined,
        onAttempt: () => undefined,
        disable: async () => undefined,
      });
      return {
        start: () => dispatcher.start(),
        async stop() {
          await dispatcher.stop();
          await http.close();
          await database.close();
        },
      };
    };
    const eventId = `evt_${uuidv7()}`;
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    sink.answer = async (_request, response) => {
      await answered;
      response.statusCode = 500;
      response.end();
    };
    await stack.sql.query(
      `insert into message (organization_id, event_id, type, sequence, body, occurred_at, created_at)
       values ($1, $2, 'mail.received', 1, '{}', now(), now())`,
      [admin.organizationId, eventId],
    );
    await stack.sql.query(
      `insert into delivery (organization_id, endpoint_id, id, event_id, event_type, next_at, created_at)
       values ($1, $2, $3, $4, 'mail.received', now(), now())`,
      [admin.organizationId, id, uuidv7(), eventId],
    );
    // The service of the stack does not know of the delivery; it finds the lane taken.
    const former = await open();
    await stack.sql.query(
      `insert into lane (endpoint_id, owner, lease_until) values ($1, 'no process', now())`,
      [id],
    );
    await stack.sql.query(`update endpoint set enabled = true where id = $1`, [id]);
    await former.start();
    await eventually(() => sink.received.length === 1);
    await stack.sql.query(
      `update lane set owner = 'new owner', epoch = epoch + 1, lease_until = now() + interval '1 hour' where endpoint_id = $1`,
      [id],
    );
    answer();
    await former.stop();
    const { rows } = await stack.sql.query(
      `select state, attempts, (select count(*)::int from attempt where endpoint_id = $1) as written
         from delivery where endpoint_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ state: 'pending', attempts: 0, written: 0 }]);
    expect((await read(id)).first_failure_at).toBeNull();
    await stack.sql.query(`delete from lane where endpoint_id = $1`, [id]);
  });
});
