import { MemorySharedState, RedisSharedState, type SharedState } from '@dak/platform/shared-state';
import { describeWithRedis } from '@dak/testing/redis';
import { eventually } from '@dak/testing/waiting';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('two replicas over one memory', () => {
  revocation(() => {
    const state = new MemorySharedState();
    return Promise.resolve([state, state]);
  });
});

describeWithRedis('two replicas over Redis, each with its own connection', (open) => {
  revocation(async () => {
    const { url, keyPrefix } = await open();
    return Promise.all([1, 2].map(() => RedisSharedState.connect({ url, keyPrefix })));
  });
});

function revocation(openStates: () => Promise<SharedState[]>): void {
  let site: GatewayUnderTest;
  let other: Awaited<ReturnType<GatewayUnderTest['replica']>>;
  let states: SharedState[];

  beforeAll(async () => {
    states = await openStates();
    site = await startGateway({ sharedState: states[0]! });
    other = await site.replica(states[1]);
  });
  afterAll(async () => {
    await site.close();
    if (states[1] !== states[0]) await states[1]!.close();
  });

  async function newKey(): Promise<{ id: string; key: string }> {
    const reply = await site
      .client(site.seed.apiKey)
      .post('/settings/api-keys', { name: 'key', scopes: ['api.meta'] });
    return reply.body;
  }

  it('refuse a revoked key with the very next request, wherever it was revoked', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id, key } = await newKey();
      const [here, there] = [site.client(key), other.client(key)];
      expect([(await here.get('/')).status, (await there.get('/')).status]).toEqual([200, 200]);
      const revoker = round % 2 === 0 ? site : other;
      await revoker.client(site.seed.apiKey).delete(`/settings/api-keys/${id}`);
      expect([(await here.get('/')).status, (await there.get('/')).status]).toEqual([401, 401]);
    }
  });

  it('never accept a key again once its revocation was answered, under load', async () => {
    const { id, key } = await newKey();
    let revoked = false;
    let stop = false;
    let answered = 0;
    const acceptedAfter: number[] = [];
    const hammer = async (client: ReturnType<GatewayUnderTest['client']>) => {
      while (!stop) {
        const wasRevoked = revoked;
        const { status } = await client.get('/');
        answered += 1;
        if (wasRevoked && status !== 401) acceptedAfter.push(status);
      }
    };
    const hammers = [site, other, site, other].map((one) => hammer(one.client(key)));
    await eventually(() => answered > 20);
    await other.client(site.seed.apiKey).delete(`/settings/api-keys/${id}`);
    revoked = true;
    const before = answered;
    await eventually(() => answered > before + 20);
    stop = true;
    await Promise.all(hammers);
    expect(acceptedAfter).toEqual([]);
  });

  it('take a change of role at once', async () => {
    const admin = await site.adminSession();
    const password = 'a long enough password';
    const person = await admin.post('/settings/users', {
      email: 'moving@dak.example',
      display_name: 'Moving',
      role: 'admin',
      department_ids: [],
      password,
    });
    const login = await other
      .client()
      .post('/auth/login', { email: 'moving@dak.example', password });
    const there = other.client(login.body.access_token);
    expect((await there.get('/settings/users')).status).toBe(200);
    await admin.patch(`/settings/users/${person.body.id}`, { role: 'user' });
    expect((await there.get('/settings/users')).status).toBe(403);
  });
}

describe('a shared state that fails', () => {
  /** Answers until told to break. */
  class BreakableState extends MemorySharedState {
    broken = false;
    override async get(key: string): Promise<string | null> {
      if (this.broken) throw new Error('connection lost');
      return super.get(key);
    }
    override async set(key: string, value: string, ttlMs: number): Promise<void> {
      if (this.broken) throw new Error('connection lost');
      return super.set(key, value, ttlMs);
    }
    override async consume(key: string, limit: number, windowMs: number, cost?: number) {
      if (this.broken) throw new Error('connection lost');
      return super.consume(key, limit, windowMs, cost);
    }
  }

  it('keeps reads going from the database and refuses changes that it cannot announce', async () => {
    const state = new BreakableState();
    const site = await startGateway({ sharedState: state });
    try {
      const admin = site.client(site.seed.apiKey);
      const key = await admin.post('/settings/api-keys', { name: 'key', scopes: ['api.meta'] });
      state.broken = true;
      expect((await admin.get('/')).status).toBe(200);
      const refused = await admin.delete(`/settings/api-keys/${key.body.id}`);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await site.client(key.body.key).get('/')).status).toBe(200);
      state.broken = false;
      expect((await admin.delete(`/settings/api-keys/${key.body.id}`)).status).toBe(204);
      expect((await site.client(key.body.key).get('/')).status).toBe(401);
    } finally {
      await site.close();
    }
  });
});
