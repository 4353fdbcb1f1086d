import pg from 'pg';
import { uuidv7 } from '@dak/kernel';
import type { Reader, VisibilityClient } from '@dak/platform/visibility';
import { StreamClient } from '@dak/testing/event-stream';
import { eventually, slowPeer, timePasses } from '@dak/testing/waiting';
import { eventOf, openTestLog, type EventFacts } from './event-rig';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

let log: Awaited<ReturnType<typeof openTestLog>>;
let rig: GatewayUnderTest;
let organizationId: string;
const clients: StreamClient[] = [];

/** What the mail service would say: readers by conversation, departments by their id. */
/** Who may send in every conversation. */
const senders = new Set<string>();
const access = new Map<string, (reader: Reader) => boolean>();
const visibility: VisibilityClient = {
  findReaders: async ({ places, readers }) => ({
    places: places.map(({ conversationId }) => ({
      userIds: readers
        .filter((reader) => access.get(conversationId)?.(reader) === true)
        .map(({ userId }) => userId),
      senderIds: [...senders],
    })),
  }),
};

beforeAll(async () => {
  log = await openTestLog();
  rig = await startGateway({
    log: log.log,
    visibility,
    streamLimits: { credentialCheckMs: 200, stallMs: 1_500, perCredential: 5 },
  });
  organizationId = rig.seed.organizationId;
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.kill();
  // What one test published is not to reach the next one.
  await eventually(async () => {
    const lag = await log.log.lag('stream-feed');
    return lag.every(({ records }) => records === 0);
  });
});
afterAll(async () => {
  await rig.close();
  await log.close();
});

async function open(
  options: { credential?: string; query?: string; lastEventId?: string; baseUrl?: string } = {},
): Promise<StreamClient> {
  const { credential = rig.seed.apiKey, baseUrl = rig.baseUrl, ...more } = options;
  const client = new StreamClient(baseUrl, credential, more);
  clients.push(client);
  await client.ready();
  return client;
}

const event = (facts: Partial<EventFacts> = {}) => eventOf({ organizationId, ...facts });

async function publish(count: number, facts: Partial<EventFacts> = {}): Promise<string[]> {
  const events = Array.from({ length: count }, (_, sequence) => event({ sequence, ...facts }));
  await log.publish(events);
  return events.map(({ id }) => id);
}

async function createMember() {
  const admin = await rig.adminSession();
  const email = `member-${uuidv7()}@dak.example`;
  const made = await admin.post('/settings/users', {
    email,
    display_name: 'Member',
    role: 'user',
    password: 'a long enough password',
  });
  const login = await rig.client().post('/auth/login', {
    email,
    password: 'a long enough password',
  });
  return {
    id: made.body.id as string,
    session: login.body.access_token as string,
    client: rig.client(login.body.access_token),
  };
}

describe('a stream', () => {
  it('has each event in order with id, kind and the body of a webhook', async () => {
    const client = await open();
    expect(client.status).toBe(200);
    expect(client.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(client.headers['cache-control']).toContain('no-store');
    const conversationId = uuidv7();
    const ids = await publish(20, { conversationId, reason: 'line\r\nid: evil\n\ndata: x' });
    await client.until('all', () => client.events().length === 20);
    expect(client.ids()).toEqual(ids);
    expect(client.messages[0]).toMatchObject({ event: 'conversation.updated', id: ids[0] });
    expect(client.events()[0]).toMatchObject({
      type: 'conversation.updated',
      organization_id: organizationId,
      data: { conversation_id: conversationId, reason: 'line\r\nid: evil\n\ndata: x' },
    });
  });

  it('has nothing of other organizations', async () => {
    const client = await open();
    await log.publish([eventOf({ organizationId: uuidv7() })]);
    const [own] = await publish(1);
    await client.until('own', () => client.events().length > 0);
    expect(client.ids()).toEqual([own]);
  });

  it('shows the kinds and the mailbox that were asked for', async () => {
    const mailboxId = uuidv7();
    const byKind = await open({ query: '?types=conversation.updated,%20mail.sent' });
    const byMailbox = await open({ query: `?mailbox=${mailboxId}` });
    const other = event({ type: 'domain.verified', conversationId: null, mailboxId: null });
    const update = event({ mailboxId });
    const elsewhere = event();
    await log.publish([other, update, elsewhere]);
    await byKind.until('both', () => byKind.events().length === 2);
    await byMailbox.until('one', () => byMailbox.events().length === 1);
    expect(new Set(byKind.ids())).toEqual(new Set([update.id, elsewhere.id]));
    expect(byMailbox.ids()).toEqual([update.id]);
    const { status, body } = await rig
      .client(rig.seed.apiKey)
      .get('/events/stream?types=mail.recieved');
    expect([status, body.error]).toEqual([
      400,
      expect.stringContaining('types names mail.recieved'),
    ]);
  });

  it('ends after the seconds that were asked for', async () => {
    const [first, ...rest] = await publish(3, { conversationId: uuidv7() });
    const before = await open({ query: '?seconds=1' });
    await before.until('end', () => before.isEnded);
    const caughtUp = await open({ query: '?seconds=0', lastEventId: first! });
    await caughtUp.until('end', () => caughtUp.isEnded);
    expect(caughtUp.ids()).toEqual(expect.arrayContaining(rest));
    expect(caughtUp.notices()).toMatchObject([{ event: 'close', data: { reason: 'time_over' } }]);
  });

  it('is refused when its credential has too many', async () => {
    for (let count = 0; count < 5; count += 1) await open();
    const { status, headers } = await rig.client(rig.seed.apiKey).get('/events/stream');
    expect([status, headers.get('x-error-code')]).toEqual([429, 'too_many_streams']);
    clients.pop()!.kill();
    await eventually(async () => (await open()).status === 200);
  });

  it('answers HEAD with headers alone', async () => {
    await eventually(async () => {
      const response = await fetch(`${rig.baseUrl}/api/v1/events/stream`, {
        method: 'HEAD',
        headers: { Authorization: `Bearer ${rig.seed.apiKey}` },
      });
      return response.status === 200 && (await response.text()) === '';
    });
  });
});

describe('a stream that is taken up again', () => {
  it('misses nothing and repeats nothing, wherever and however often the connection breaks', async () => {
    const replica = await rig.replica();
    const urls = [rig.baseUrl, replica.baseUrl];
    const conversations = Array.from({ length: 5 }, () => uuidv7());
    let client = await open({ query: '?types=conversation.updated' });
    const got: string[] = [];
    const expected: string[] = [];
    const publishing = (async () => {
      for (let round = 0; round < 60; round += 1) {
        const events = conversations.flatMap((conversationId) =>
          Array.from({ length: 1 + (round % 3) }, (_, index) =>
            event({ conversationId, sequence: round * 10 + index }),
          ),
        );
        expected.push(...events.map(({ id }) => id));
        await log.publish(events);
        await slowPeer(Math.random() * 15);
      }
    })();
    let kills = 0;
    let lastEventId = '';
    const take = (): void => {
      got.push(...client.ids());
      if (client.lastEventId !== '') lastEventId = client.lastEventId;
    };
    let isPublished = false;
    void publishing.then(() => (isPublished = true));
    while (!isPublished) {
      await slowPeer(Math.random() * 60);
      client.kill();
      take();
      kills += 1;
      client = await open({
        baseUrl: urls[kills % 2]!,
        lastEventId,
        query: '?types=conversation.updated',
      });
      expect(client.status).toBe(200);
    }
    await publishing;
    await client.until('the rest', () => got.length + client.events().length >= expected.length);
    // What would come twice comes before this.
    const [last] = await publish(1, { conversationId: conversations[0]! });
    expected.push(last!);
    await client.until('the last', () => client.ids().includes(last!));
    take();
    expect(client.notices()).toEqual([]);
    expect(new Set(got).size).toBe(got.length);
    expect([...got].sort()).toEqual([...expected].sort());
    expect(kills).toBeGreaterThan(5);
  }, 60_000);

  it('goes on from a place without an event, and on another replica', async () => {
    const first = await open();
    await first.until('a place', () => first.lastEventId.startsWith('pos_'));
    first.kill();
    const ids = await publish(3, { conversationId: uuidv7() });
    const replica = await rig.replica();
    const second = await open({
      baseUrl: replica.baseUrl,
      query: `?last_event_id=${first.lastEventId}`,
    });
    await second.until('three', () => second.events().length === 3);
    expect(second.ids()).toEqual(ids);
  });

  it('keeps the order of a conversation, and everybody has the same one', async () => {
    const replica = await rig.replica();
    const one = await open();
    const other = await open({ baseUrl: replica.baseUrl });
    const conversations = Array.from({ length: 10 }, () => uuidv7());
    for (let round = 0; round < 10; round += 1) {
      await log.publish(
        conversations.map((conversationId) => event({ conversationId, sequence: round })),
      );
    }
    for (const client of [one, other]) {
      await client.until('100', () => client.events().length === 100);
    }
    expect(other.ids()).toEqual(one.ids());
    for (const conversationId of conversations) {
      const sequences = one
        .events()
        .filter(({ data }) => data['conversation_id'] === conversationId)
        .map(({ sequence }) => sequence);
      expect(sequences).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
  });

  it.each([
    ['an id of nothing', () => `evt_${uuidv7()}`],
    ['no id at all', () => 'x'],
    ['a forged place', () => 'pos_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ])('says after %s that history is gone, then goes on', async (_, lastEventId) => {
    const client = await open({ lastEventId: lastEventId() });
    await client.until('reset', () => client.notices().length === 1);
    expect(client.notices()[0]).toMatchObject({ event: 'reset', data: { reason: 'history_gone' } });
    const [id] = await publish(1);
    await client.until('live', () => client.events().length === 1);
    expect(client.ids()).toEqual([id]);
  });

  it('says so when what follows was swept in the meantime', async () => {
    const client = await open();
    const [first] = await publish(1);
    await client.until('one', () => client.events().length === 1);
    await publish(3);
    await client.until('four', () => client.events().length === 4);
    const admin = new pg.Client({ connectionString: rig.database.adminUrl });
    await admin.connect();
    await admin.query(
      `delete from event_feed where organization_id = $1
          and position <= (select position + 2 from event_feed where event_id = $2)
          and event_id <> $2`,
      [organizationId, first],
    );
    await admin.end();
    const late = await open({ lastEventId: first! });
    await late.until('reset', () => late.notices().length === 1);
    await late.until('what is left', () => late.events().length >= 1);
    expect(late.notices()[0]?.event).toBe('reset');
  });
});

describe('what a regular user sees', () => {
  it('are the conversations that they may read at that moment', async () => {
    const member = await createMember();
    const client = await open({ credential: member.session });
    const everything = await open();
    const [mine, theirs] = [uuidv7(), uuidv7()];
    access.set(mine, ({ userId }) => userId === member.id);
    const seen = event({ conversationId: mine });
    await log.publish([
      event({ conversationId: theirs }),
      seen,
      event({ conversationId: null, mailboxId: null, type: 'domain.verified' }),
    ]);
    await client.until('one', () => client.events().length === 1);
    await everything.until('three', () => everything.events().length === 3);
    access.delete(mine);
    access.set(theirs, ({ userId }) => userId === member.id);
    await log.publish([event({ conversationId: mine })]);
    await everything.until('four', () => everything.events().length === 4);
    const afterwards = event({ conversationId: theirs });
    await log.publish([afterwards]);
    await client.until('two', () => client.events().length === 2);
    expect(client.ids()).toEqual([seen.id, afterwards.id]);
  });

  it('follows a move to another department', async () => {
    const member = await createMember();
    const admin = rig.client(rig.seed.apiKey);
    const { body: department } = await admin.post('/departments', { name: `North ${uuidv7()}` });
    const conversationId = uuidv7();
    access.set(conversationId, ({ departmentIds }) => departmentIds.includes(department.id));
    const own = uuidv7();
    access.set(own, ({ userId }) => userId === member.id);
    const everything = await open();
    const client = await open({ credential: member.session });
    await publish(1, { conversationId });
    await everything.until('one', () => everything.events().length === 1);
    const [first] = await publish(1, { conversationId: own });
    await client.until('one', () => client.events().length === 1);
    await admin.put(`/departments/${department.id}/members`, { user_ids: [member.id] });
    const [second] = await publish(1, { conversationId });
    await client.until('two', () => client.events().length === 2);
    await admin.put(`/departments/${department.id}/members`, { user_ids: [] });
    await publish(1, { conversationId });
    await everything.until('four', () => everything.events().length === 4);
    const [third] = await publish(1, { conversationId: own });
    await client.until('three', () => client.events().length === 3);
    expect(client.ids()).toEqual([first, second, third]);
  });

  it('is also decided by what they may read now when they come back', async () => {
    const member = await createMember();
    const everything = await open();
    const [first] = await publish(1);
    await everything.until('the first', () => everything.events().length === 1);
    const conversationId = uuidv7();
    const [id] = await publish(1, { conversationId });
    await publish(1, { conversationId: uuidv7() });
    await everything.until('all', () => everything.events().length === 3);
    access.set(conversationId, ({ userId }) => userId === member.id);
    const client = await open({ credential: member.session, lastEventId: first! });
    await client.until('one', () => client.events().length === 1);
    const [last] = await publish(1, { conversationId });
    await client.until('two', () => client.events().length === 2);
    expect(client.ids()).toEqual([id, last]);
  });

  it('waits while nobody can say who may read', async () => {
    const failing = await startGatewayWithFailingReaders();
    const member = await failing.member();
    const client = new StreamClient(failing.baseUrl, member.session);
    clients.push(client);
    await client.ready();
    const [id] = await failing.publish(member.id);
    await eventually(() => failing.asked() >= 2);
    expect(client.ids()).toEqual([]);
    failing.heal();
    await client.until('one', () => client.events().length === 1);
    expect(client.ids()).toEqual([id]);
    client.kill();
    await failing.close();
  }, 30_000);
});

describe('a credential that no longer holds', () => {
  const admin = () => rig.client(rig.seed.apiKey);

  it.each(['with an event', 'without one'])('ends the stream: a revoked key, %s', async (how) => {
    const { body } = await admin().post('/settings/api-keys', {
      name: 'stream',
      scopes: ['mail.read'],
    });
    const client = await open({ credential: body.key });
    const [before] = await publish(1);
    await client.until('one', () => client.events().length === 1);
    await admin().delete(`/settings/api-keys/${body.id}`);
    if (how === 'with an event') await publish(1);
    await client.until('end', () => client.isEnded);
    expect(client.ids()).toEqual([before]);
    expect(client.notices()).toMatchObject([
      { event: 'unauthorized', data: { reason: 'invalid_credentials' } },
    ]);
  });

  it('ends the stream: a user who is deactivated', async () => {
    const member = await createMember();
    const client = await open({ credential: member.session });
    await admin().patch(`/settings/users/${member.id}`, { active: false });
    await client.until('end', () => client.isEnded);
    expect(client.notices()).toMatchObject([{ event: 'unauthorized' }]);
  });

  it('ends the stream: a key that expires', async () => {
    const { body } = await admin().post('/settings/api-keys', {
      name: 'stream',
      scopes: ['mail.read'],
      expires_at: new Date(Date.now() + 500).toISOString(),
    });
    const client = await open({ credential: body.key });
    expect(client.status).toBe(200);
    await client.until('end', () => client.isEnded);
    expect(client.notices()).toMatchObject([{ event: 'unauthorized' }]);
  });
});

describe('a reader that is too slow', () => {
  it('is told, and gets everything when it comes back', async () => {
    const client = await open();
    const [first] = await publish(1);
    await client.until('one', () => client.events().length === 1);
    client.pause();
    const reason = 'x'.repeat(20_000);
    const conversationId = uuidv7();
    const ids: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      ids.push(...(await publish(50, { conversationId, reason })));
    }
    // Longer than a reader may stall.
    await timePasses(4_000);
    client.resume();
    await client.until('end', () => client.isEnded);
    expect(client.notices()).toMatchObject([{ event: 'close', data: { reason: 'slow_reader' } }]);
    const got = client.ids();
    expect(got.length).toBeLessThan(ids.length);
    const again = await open({ lastEventId: client.lastEventId });
    await again.until('the rest', () => got.length + again.events().length >= ids.length + 1);
    expect([...got, ...again.ids()]).toEqual([first, ...ids]);
    expect(again.notices()).toEqual([]);
  }, 60_000);
});

it('ends its streams with a word when the server stops', async () => {
  const replica = await rig.replica();
  const client = await open({ baseUrl: replica.baseUrl });
  const started = Date.now();
  await replica.gateway.close(5_000);
  await client.until('end', () => client.isEnded);
  expect(Date.now() - started).toBeLessThan(2_000);
  expect(client.notices()).toMatchObject([{ event: 'close', data: { reason: 'stopping' } }]);
});

/** A gateway of its own whose mail service does not answer at first. */
async function startGatewayWithFailingReaders() {
  const ownLog = await openTestLog();
  let isDown = true;
  let asked = 0;
  const allowed = new Set<string>();
  const own = await startGateway({
    log: ownLog.log,
    visibility: {
      findReaders: async ({ places }) => {
        asked += 1;
        if (isDown) throw new Error('down');
        return { places: places.map(() => ({ userIds: [...allowed], senderIds: [...allowed] })) };
      },
    },
  });
  return {
    asked: () => asked,
    baseUrl: own.baseUrl,
    heal: () => (isDown = false),
    async member() {
      const email = `member-${uuidv7()}@dak.example`;
      const password = 'a long enough password';
      const admin = await own.adminSession();
      const made = await admin.post('/settings/users', {
        email,
        display_name: 'Member',
        role: 'user',
        password,
      });
      const login = await own.client().post('/auth/login', { email, password });
      return { id: made.body.id as string, session: login.body.access_token as string };
    },
    async publish(userId: string) {
      allowed.add(userId);
      const one = eventOf({ organizationId: own.seed.organizationId });
      await ownLog.publish([one]);
      return [one.id];
    },
    close: async () => {
      await own.close();
      await ownLog.close();
    },
  };
}
