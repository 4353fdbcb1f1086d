import { Client } from 'pg';
import { eventually } from '@dak/testing/waiting';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const PASSWORD = 'a long enough password';

describe('a person and their sessions', () => {
  let site: GatewayUnderTest;
  const changed: string[] = [];

  beforeAll(async () => {
    site = await startGateway({
      trustedProxies: ['127.0.0.1'],
      onPasswordChanged: (email) => {
        changed.push(email);
        return Promise.resolve();
      },
    });
    const admin = await site.adminSession();
    for (const name of ['ada', 'bob']) {
      const email = `${name}@dak.example`;
      await admin.post('/settings/users', { email, display_name: name, password: PASSWORD });
    }
  });
  afterAll(async () => {
    await site.close();
  });

  const signIn = async (email: string, password = PASSWORD, address = '192.0.2.1') => {
    const { status, body, headers } = await site
      .client()
      .post('/auth/login', { email, password }, { 'X-Forwarded-For': address });
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    return { status, cookie, client: site.client(body.access_token) };
  };

  it('are listed with their addresses, and ended one by one', async () => {
    const here = await signIn('ada@dak.example');
    const there = await signIn('ada@dak.example', PASSWORD, '2001:db8::7');
    const { body } = await here.client.get('/auth/sessions');
    expect(body.data).toEqual([
      expect.objectContaining({ address: '192.0.2.1', current: true }),
      expect.objectContaining({ address: '2001:db8::7', current: false }),
    ]);
    const [own, foreign] = body.data;
    const bob = await signIn('bob@dak.example');
    expect((await bob.client.delete(`/auth/sessions/${own.id}`)).status).toBe(404);
    expect((await here.client.delete(`/auth/sessions/${foreign.id}`)).status).toBe(204);
    expect((await there.client.get('/')).status).toBe(401);
    expect(
      (await site.client().post('/auth/refresh', undefined, { Cookie: there.cookie })).status,
    ).toBe(401);
    expect((await here.client.delete(`/auth/sessions/${foreign.id}`)).status).toBe(404);
    expect((await here.client.get('/auth/sessions')).body.total).toBe(1);
  });

  it('end with the password, all but the one in which it is changed', async () => {
    const here = await signIn('ada@dak.example');
    const there = await signIn('ada@dak.example');
    const next = 'another long enough password';
    const wrong = await here.client.patch('/auth/password', { current: 'wrong', new: next });
    expect([wrong.status, wrong.headers.get('x-error-code')]).toEqual([400, 'wrong_password']);
    const weak = await here.client.patch('/auth/password', { current: PASSWORD, new: 'short' });
    expect(weak.status).toBe(400);
    expect(
      (await here.client.patch('/auth/password', { current: PASSWORD, new: next })).status,
    ).toBe(204);
    expect((await here.client.get('/')).status).toBe(200);
    expect((await there.client.get('/')).status).toBe(401);
    expect((await signIn('ada@dak.example')).status).toBe(401);
    expect((await signIn('ada@dak.example', next)).status).toBe(200);
    expect(changed).toEqual(['ada@dak.example']);
    const { body } = await (await site.adminSession()).get('/audit?action=user.password_changed');
    expect(body.total).toBe(1);
  });

  it('do not begin with a password that is replaced while it is looked at', async () => {
    const admin = await site.adminSession();
    const email = 'dan@dak.example';
    const person = { email, display_name: 'Dan', password: PASSWORD };
    const { id } = (await admin.post('/settings/users', person)).body;
    const database = new Client({ connectionString: site.database.adminUrl });
    await database.connect();
    try {
      await database.query('begin');
      await database.query('select from user_account where id = $1 for update', [id]);
      const late = signIn(email);
      await lockAwaited(database);
      // As a change of the password does it.
      await database.query(
        `update user_account set password_hash = password_hash || 'A' where id = $1`,
        [id],
      );
      await database.query('update session set revoked_at = now() where user_id = $1', [id]);
      await database.query('commit');
      expect((await late).status).toBe(401);
    } finally {
      await database.end();
    }
  });

  it('change the password in one of two that try at once, which ends the other', async () => {
    const admin = await site.adminSession();
    const email = 'fay@dak.example';
    await admin.post('/settings/users', { email, display_name: 'Fay', password: PASSWORD });
    const both = [await signIn(email), await signIn(email)];
    const replies = await Promise.all(
      both.map(({ client }, index) =>
        client.patch('/auth/password', { current: PASSWORD, new: `${PASSWORD} ${index}` }),
      ),
    );
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(1);
    const alive = await Promise.all(both.map(({ client }) => client.get('/')));
    expect(alive.map(({ status }) => status)).toEqual(
      replies.map(({ status }) => (status === 204 ? 200 : 401)),
    );
  });

  it('take open invites with them when the password is changed', async () => {
    const admin = await site.adminSession();
    const email = 'cyn@dak.example';
    const { id } = (
      await admin.post('/settings/users', { email, display_name: 'Cyn', password: PASSWORD })
    ).body;
    const token = (await admin.post(`/settings/users/${id}/invite`)).body.invite_token;
    const next = 'another long enough password';
    const { client } = await signIn(email);
    const change = { current: PASSWORD, new: next };
    expect((await client.patch('/auth/password', change)).status).toBe(204);
    const late = await site.client().post('/auth/accept-invite', { token, password: PASSWORD });
    expect([late.status, late.headers.get('x-error-code')]).toEqual([400, 'invalid_invite']);
    expect((await signIn(email, next)).status).toBe(200);
  });

  it('do not help to guess the password', async () => {
    const { client } = await signIn('bob@dak.example', PASSWORD, '192.0.2.50');
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        client.patch(
          '/auth/password',
          { current: `wrong ${i}`, new: PASSWORD },
          { 'X-Forwarded-For': '192.0.2.50' },
        ),
      ),
    );
    expect(replies.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});

/** Resolves when a statement of the gateway waits for a lock. */
async function lockAwaited(database: Client): Promise<void> {
  await eventually('a statement waits for a lock', async () => {
    const { rowCount } = await database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount;
  });
}

describe('an address that has a user in another organization', () => {
  let site: GatewayUnderTest;

  beforeAll(async () => {
    site = await startGateway();
  });
  afterAll(async () => {
    await site.close();
  });

  const login = async (email: string, password: string) => {
    const { status, body } = await site.client().post('/auth/login', { email, password });
    if (status !== 200) return status;
    return (await site.client(body.access_token).get('/')).body.principal.organization_id;
  };

  it('is answered as any other, and each password leads to its own organization', async () => {
    const { email, password } = site.seed.superadmin;
    const signedIn = await site.client().post('/auth/login', { email, password });
    const platform = site.client(signedIn.body.access_token);
    const made = await platform.post('/admin/organizations', {
      name: 'Other',
      admin: { email: 'boss@other.example', display_name: 'Boss', password: PASSWORD },
    });
    const first = await site.adminSession();
    const person = { email: 'shared@both.example', display_name: 'Shared' };
    expect((await first.post('/settings/users', { ...person, password: PASSWORD })).status).toBe(
      201,
    );
    const { body } = await site
      .client()
      .post('/auth/login', { email: 'boss@other.example', password: PASSWORD });
    const boss = site.client(body.access_token);

    const theirs = 'what the other admin chose';
    const taken = await boss.post('/settings/users', { ...person, password: theirs });
    const free = await boss.post('/settings/users', { ...person, email: 'new@both.example' });
    expect([taken.status, free.status]).toEqual([201, 201]);
    expect(Object.keys(taken.body)).toEqual(Object.keys(free.body));

    expect(await login(person.email, PASSWORD)).toBe(site.seed.organizationId);
    expect(await login(person.email, theirs)).toBe(made.body.id);
    expect(await login(person.email, 'neither of the two')).toBe(401);
    const again = await boss.post('/settings/users', { ...person, password: theirs });
    expect([again.status, again.headers.get('x-error-code')]).toEqual([409, 'duplicate_email']);
    await boss.patch(`/settings/users/${taken.body.id}`, { active: false });
    expect(await login(person.email, theirs)).toBe(401);
    expect(await login(person.email, PASSWORD)).toBe(site.seed.organizationId);
  });
});
