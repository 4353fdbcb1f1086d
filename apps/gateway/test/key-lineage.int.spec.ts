import { SCOPES } from '@dak/kernel';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

interface Made {
  id: string;
  key: string;
  expires_at: string | null;
}

describe('what a key may do about people and keys', () => {
  let site: GatewayUnderTest;
  let other: Awaited<ReturnType<GatewayUnderTest['replica']>>;

  beforeAll(async () => {
    site = await startGateway();
    other = await site.replica();
  });
  afterAll(async () => {
    await site.close();
  });

  const makeKey = async (maker: string, expiresAt?: string): Promise<Made> => {
    const { status, body } = await site.client(maker).post('/settings/api-keys', {
      name: 'made',
      scopes: ['api.meta', 'admin.manage'],
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    });
    expect(status).toBe(201);
    return body;
  };
  const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

  it('is nothing that makes a person with more rights than its own', async () => {
    const key = site.client((await makeKey(site.seed.apiKey)).key);
    const user = { email: 'p@lineage.example', display_name: 'P', department_ids: [] };
    const refused = [
      await key.post('/settings/users', { ...user, password: 'a long enough password' }),
      await key.post('/settings/users', { ...user, role: 'admin' }),
      await key.patch(`/settings/users/${site.seed.admin.id}`, { role: 'user' }),
      await key.post(`/settings/users/${site.seed.admin.id}/invite`),
      await key.patch('/auth/password', { current: 'x', new: 'a long enough password' }),
      await key.get('/auth/sessions'),
    ];
    for (const reply of refused) {
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([403, 'session_required']);
    }
    const created = await key.post('/settings/users', { ...user, role: 'user' });
    expect([created.status, created.body.invite_token, created.body.role]).toEqual([
      201,
      null,
      'user',
    ]);
    expect((await key.patch(`/settings/users/${created.body.id}`, { active: false })).status).toBe(
      200,
    );
  });

  it('is to make keys that expire no later than itself', async () => {
    const end = inHours(2);
    const parent = await makeKey(site.seed.apiKey, end);
    expect((await makeKey(parent.key)).expires_at).toBe(end);
    expect((await makeKey(parent.key, inHours(50))).expires_at).toBe(end);
    const sooner = inHours(1);
    expect((await makeKey(parent.key, sooner)).expires_at).toBe(sooner);
    expect((await makeKey(site.seed.apiKey)).expires_at).toBeNull();
  });

  it('ends with its revocation, also what was made with what it made, on every replica', async () => {
    const parent = await makeKey(site.seed.apiKey);
    const child = await makeKey(parent.key);
    const grandchild = await makeKey(child.key);
    const bystander = await makeKey(site.seed.apiKey);
    for (const { key } of [parent, child, grandchild, bystander]) {
      expect((await site.client(key).get('/')).status).toBe(200);
      expect((await other.client(key).get('/')).status).toBe(200);
    }
    await site.client(site.seed.apiKey).delete(`/settings/api-keys/${parent.id}`);
    for (const { key } of [parent, child, grandchild]) {
      expect((await other.client(key).get('/')).status).toBe(401);
      expect((await site.client(key).get('/')).status).toBe(401);
    }
    expect((await other.client(bystander.key).get('/')).status).toBe(200);
    const { body } = await site.client(site.seed.apiKey).get('/audit?action=api_key.revoked');
    expect(
      body.data
        .slice(0, 3)
        .map((one: { target: { id: string } }) => one.target.id)
        .sort(),
    ).toEqual([parent.id, child.id, grandchild.id].sort());
  });

  it('leaves no key behind that was being made while its maker was revoked', async () => {
    for (let round = 0; round < 10; round += 1) {
      const parent = await makeKey(site.seed.apiKey);
      const [made] = await Promise.all([
        other.client(parent.key).post('/settings/api-keys', { name: 'late', scopes: ['api.meta'] }),
        site.client(site.seed.apiKey).delete(`/settings/api-keys/${parent.id}`),
      ]);
      expect([201, 401]).toContain(made.status);
      if (made.status === 201) {
        expect((await site.client(made.body.key).get('/')).status).toBe(401);
      }
    }
  });

  it('never has more scopes than its maker', async () => {
    const weak = await makeKey(site.seed.apiKey);
    const reply = await site
      .client(weak.key)
      .post('/settings/api-keys', { name: 'all', scopes: [...SCOPES] });
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([403, 'missing_scope']);
  });
});
