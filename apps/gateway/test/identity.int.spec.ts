import { eventually } from '@dak/testing/waiting';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('identity', () => {
  let site: GatewayUnderTest;
  let now = 0;

  beforeAll(async () => {
    site = await startGateway({ clock: () => Date.now() + now });
  });
  afterAll(async () => {
    await site.close();
  });

  it('tells the holder of a key who they are, by either header', async () => {
    const { body } = await site.client(site.seed.apiKey).get('/');
    expect(body.principal).toMatchObject({
      type: 'api_key',
      organization_id: site.seed.organizationId,
      user_id: site.seed.admin.id,
      role: 'admin',
      mailbox_ids: null,
    });
    expect(body.principal.scopes).toHaveLength(20);
    const byHeader = await site.client().get('/', { 'X-API-Key': site.seed.apiKey });
    expect(byHeader.body.principal).toEqual(body.principal);
  });

  it('refuses no credential, garbage, a mistyped key and an unknown key with 401', async () => {
    const mistyped = site.seed.apiKey.slice(0, -1) + (site.seed.apiKey.endsWith('a') ? 'b' : 'a');
    for (const credential of [undefined, 'garbage', mistyped, 'a.b.c', 'svc_live_x']) {
      const reply = await site.client(credential).get('/');
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toContain('Bearer');
    }
  });

  it('signs in, refreshes and signs out', async () => {
    const login = await site
      .client()
      .post('/auth/login', { email: site.seed.admin.email, password: site.seed.admin.password });
    expect(login.status).toBe(200);
    const cookie = login.headers.get('set-cookie')!;
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
    expect(cookie).toContain('Path=/api/v1/auth');
    const session = site.client(login.body.access_token);
    expect((await session.get('/')).body.principal).toMatchObject({ type: 'session' });

    const renewed = await site
      .client()
      .post('/auth/refresh', undefined, { Cookie: cookie.split(';')[0]! });
    expect(renewed.status).toBe(200);
    const next = renewed.headers.get('set-cookie')!.split(';')[0]!;

    expect((await site.client().post('/auth/logout', undefined, { Cookie: next })).status).toBe(
      204,
    );
    expect((await session.get('/')).status).toBe(401);
    expect((await site.client(renewed.body.access_token).get('/')).status).toBe(401);
    expect((await site.client().post('/auth/refresh', undefined, { Cookie: next })).status).toBe(
      401,
    );
  });

  it('answers an unknown address and a wrong password alike', async () => {
    const wrong = await site
      .client()
      .post('/auth/login', { email: site.seed.admin.email, password: 'not the password' });
    const unknown = await site
      .client()
      .post('/auth/login', { email: 'nobody@dak.example', password: 'not the password' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(unknown.body);
  });

  it('ends the whole session when a refresh token comes again later', async () => {
    const login = await site
      .client()
      .post('/auth/login', { email: site.seed.admin.email, password: site.seed.admin.password });
    const first = login.headers.get('set-cookie')!.split(';')[0]!;
    const renewed = await site.client().post('/auth/refresh', undefined, { Cookie: first });
    const second = renewed.headers.get('set-cookie')!.split(';')[0]!;
    now += 11_000;
    expect((await site.client().post('/auth/refresh', undefined, { Cookie: first })).status).toBe(
      401,
    );
    expect((await site.client().post('/auth/refresh', undefined, { Cookie: second })).status).toBe(
      401,
    );
    expect((await site.client(renewed.body.access_token).get('/')).status).toBe(401);
  });

  it('gives two tabs that refresh at once the same session, and a thief who comes later none', async () => {
    const login = await site
      .client()
      .post('/auth/login', { email: site.seed.admin.email, password: site.seed.admin.password });
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    const replies = await Promise.all(
      [1, 2].map(() => site.client().post('/auth/refresh', undefined, { Cookie: cookie })),
    );
    expect(replies.map((reply) => reply.status)).toEqual([200, 200]);
    const [one, other] = replies.map((reply) => reply.headers.get('set-cookie'));
    expect(one).toBe(other);
    now += 9_000;
    const late = await site.client().post('/auth/refresh', undefined, { Cookie: cookie });
    expect(late.headers.get('set-cookie')).toBe(one);
    const next = { Cookie: one!.split(';')[0]! };
    expect((await site.client().post('/auth/refresh', undefined, next)).status).toBe(200);
    now += 2_000;
    expect((await site.client().post('/auth/refresh', undefined, { Cookie: cookie })).status).toBe(
      401,
    );
    expect((await site.client(login.body.access_token).get('/')).status).toBe(401);
  });

  it('invites a user who sets a password once', async () => {
    const admin = await site.adminSession();
    const created = await admin.post('/settings/users', {
      email: 'Invited@Dak.Example',
      display_name: 'Invited',
      role: 'user',
      department_ids: [],
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ email: 'invited@dak.example', invited: true });
    const accept = { token: created.body.invite_token, password: 'a long enough password' };
    const accepted = await site.client().post('/auth/accept-invite', accept);
    expect(accepted.status).toBe(200);
    expect(accepted.body.user).toMatchObject({ id: created.body.id, invited: false });
    expect((await site.client().post('/auth/accept-invite', accept)).status).toBe(400);
    const me = await site.client(accepted.body.access_token).get('/');
    expect(me.body.principal).toMatchObject({ role: 'user', mailbox_ids: [] });
    expect(me.body.principal.scopes).not.toContain('admin.manage');
    const refused = await site.client(accepted.body.access_token).get('/settings/users');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('x-error-code')).toBe('missing_scope');
  });

  it('keeps addresses unique in the organization and names clean', async () => {
    const admin = site.client(site.seed.apiKey);
    const user = { display_name: 'X', role: 'user', department_ids: [] };
    const duplicate = await admin.post('/settings/users', {
      ...user,
      email: site.seed.admin.email,
    });
    expect(duplicate.status).toBe(409);
    const broken = await admin.post('/settings/users', {
      ...user,
      email: 'x@dak.example',
      display_name: 'a\r\nBcc: b@c.d',
    });
    expect(broken.status).toBe(400);
    expect(broken.body.error).toContain('display_name must not hold line breaks');
    const foreign = await admin.post('/settings/users', {
      ...user,
      email: 'x@dak.example',
      department_ids: ['01900000-0000-7000-8000-000000000000'],
    });
    expect(foreign.body.error).toContain('department_ids[0]');
  });

  it('refuses to demote or deactivate the last admin', async () => {
    const admin = await site.adminSession();
    for (const change of [{ role: 'user' }, { active: false }]) {
      const reply = await admin.patch(`/settings/users/${site.seed.admin.id}`, change);
      expect(reply.status).toBe(409);
      expect(reply.headers.get('x-error-code')).toBe('last_admin');
    }
  });

  it('creates, uses, lists and revokes a key', async () => {
    const admin = site.client(site.seed.apiKey);
    const created = await admin.post('/settings/api-keys', {
      name: 'reader',
      scopes: ['api.meta', 'mail.read'],
    });
    expect(created.status).toBe(201);
    expect(created.body.key).toMatch(/^svc_live_[0-9A-Za-z]{49}$/);
    const reader = site.client(created.body.key);
    const me = await reader.get('/');
    expect(me.body.principal.scopes).toEqual(['api.meta', 'mail.read']);
    expect((await reader.get('/departments')).headers.get('x-error-code')).toBe('missing_scope');

    const listed = await admin.get('/settings/api-keys');
    const record = listed.body.data.find((key: { id: string }) => key.id === created.body.id);
    expect(record.last_used_at).not.toBeNull();
    expect(JSON.stringify(listed.body)).not.toContain(created.body.key);

    expect((await admin.delete(`/settings/api-keys/${created.body.id}`)).status).toBe(204);
    expect((await reader.get('/')).status).toBe(401);
    expect(
      (await admin.get(`/settings/api-keys/${created.body.id}`)).body.revoked_at,
    ).not.toBeNull();
  });

  it('ends a key at its expiry', async () => {
    const admin = site.client(site.seed.apiKey);
    const created = await admin.post('/settings/api-keys', {
      name: 'short',
      scopes: ['api.meta'],
      expires_at: new Date(Date.now() + now + 700).toISOString(),
    });
    const key = site.client(created.body.key);
    expect((await key.get('/')).status).toBe(200);
    await eventually(async () => (await key.get('/')).status === 401);
    const past = await admin.post('/settings/api-keys', {
      name: 'past',
      scopes: ['api.meta'],
      expires_at: '2020-01-01T00:00:00Z',
    });
    expect(past.status).toBe(400);
    expect(past.body.error).toContain('expires_at');
  });

  it('does not let a key make a stronger one', async () => {
    const admin = site.client(site.seed.apiKey);
    const weak = await admin.post('/settings/api-keys', { name: 'weak', scopes: ['admin.manage'] });
    const reply = await site
      .client(weak.body.key)
      .post('/settings/api-keys', { name: 'strong', scopes: ['admin.manage', 'mail.send'] });
    expect(reply.status).toBe(403);
    expect(reply.body.error).toContain('mail.send');
  });

  it('cuts a key down with the role of its creator and ends it with them', async () => {
    const admin = await site.adminSession();
    const person = await admin.post('/settings/users', {
      email: 'keymaker@dak.example',
      display_name: 'Key Maker',
      role: 'admin',
      department_ids: [],
      password: 'a long enough password',
    });
    const login = await site
      .client()
      .post('/auth/login', { email: 'keymaker@dak.example', password: 'a long enough password' });
    const key = await site
      .client(login.body.access_token)
      .post('/settings/api-keys', { name: 'theirs', scopes: ['api.meta', 'admin.manage'] });
    const holder = site.client(key.body.key);
    expect((await holder.get('/settings/users')).status).toBe(200);

    await admin.patch(`/settings/users/${person.body.id}`, { role: 'user' });
    expect((await holder.get('/settings/users')).status).toBe(403);
    expect((await holder.get('/')).body.principal).toMatchObject({
      role: 'user',
      scopes: ['api.meta'],
    });

    const department = await admin.post('/departments', { name: 'Support' });
    await admin.put(`/departments/${department.body.id}/members`, { user_ids: [person.body.id] });
    expect((await holder.get('/')).body.principal.department_ids).toEqual([department.body.id]);

    await admin.patch(`/settings/users/${person.body.id}`, { active: false });
    expect((await holder.get('/')).status).toBe(401);
    expect((await site.client(login.body.access_token).get('/')).status).toBe(401);
  });

  it('changes the members of several departments with the same people at once', async () => {
    const admin = site.client(site.seed.apiKey);
    const people = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const body = { email: `twin${index}@members.example`, display_name: 'Twin' };
        return (await admin.post('/settings/users', { ...body, role: 'user' })).body.id as string;
      }),
    );
    const departments = await Promise.all(
      ['East', 'West', 'North'].map(
        async (name) => (await admin.post('/departments', { name })).body.id as string,
      ),
    );
    for (let round = 0; round < 8; round += 1) {
      const answers = await Promise.all(
        departments.map((id, index) =>
          admin.put(`/departments/${id}/members`, {
            user_ids: (index + round) % 2 === 0 ? people : [...people].reverse().slice(round % 3),
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
  });

  it('changes departments by version', async () => {
    const admin = site.client(site.seed.apiKey);
    const created = await admin.post('/departments', { name: 'Sales', description: 'Sells' });
    expect(created.headers.get('etag')).toBe('"1"');
    const path = `/departments/${created.body.id}`;
    expect((await admin.post('/departments', { name: 'SALES' })).status).toBe(409);
    const bare = await admin.post('/departments', { name: 'Bare', description: null });
    expect(bare).toMatchObject({ status: 201, body: { description: '' } });
    const changed = await admin.patch(path, { name: 'Sales India' }, { 'If-Match': '"1"' });
    expect(changed.headers.get('etag')).toBe('"2"');
    expect((await admin.patch(path, { name: 'Lost' }, { 'If-Match': '"1"' })).status).toBe(412);
    expect((await admin.patch(path, { name: 'Lost' }, { 'If-Match': 'W/"2"' })).status).toBe(412);
    expect((await admin.delete(path, { 'If-Match': '"2"' })).status).toBe(204);
    expect((await admin.get(path)).status).toBe(404);
  });

  it('reads and changes the settings of the organization', async () => {
    const admin = site.client(site.seed.apiKey);
    const changed = await admin.patch('/settings/organization', {
      time_zone: 'Asia/Kolkata',
      default_from_name: 'Demo Ltd',
      retention_days: 365,
    });
    expect(changed.body).toMatchObject({ time_zone: 'Asia/Kolkata', retention_days: 365 });
    const wrong = await admin.patch('/settings/organization', { time_zone: 'Mars/Base' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toContain('time_zone must be an IANA time zone');
  });

  it('keeps mail for a shorter time only for who may also change mail', async () => {
    const admin = site.client(site.seed.apiKey);
    const put = (client: typeof admin, days: number | null) =>
      client.patch('/settings/organization', { retention_days: days, time_zone: 'UTC' });
    const made = await admin.post('/settings/api-keys', {
      name: 'settings',
      scopes: ['admin.manage'],
    });
    const weak = site.client(made.body.key);
    expect((await put(admin, null)).status).toBe(200);
    const refused = await put(weak, 36_500);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'missing_scope']);
    expect((await put(admin, 90)).status).toBe(200);
    expect((await put(weak, 89)).status).toBe(403);
    expect((await put(weak, 90)).status).toBe(200);
    expect((await put(weak, 91)).body.retention_days).toBe(91);
    expect((await put(weak, null)).body.retention_days).toBeNull();
  });
});

describe('platform administration', () => {
  let site: GatewayUnderTest;
  let superadmin: string;

  beforeAll(async () => {
    site = await startGateway();
    const { email, password } = site.seed.superadmin;
    superadmin = (await site.client().post('/auth/login', { email, password })).body.access_token;
  });
  afterAll(async () => {
    await site.close();
  });

  it('is closed to keys, also to those of a superadmin', async () => {
    const key = await site
      .client(superadmin)
      .post('/settings/api-keys', { name: 'platform', scopes: ['admin.manage', 'api.meta'] });
    for (const credential of [site.seed.apiKey, key.body.key]) {
      const reply = await site.client(credential).get('/admin/organizations');
      expect(reply.status).toBe(403);
      expect(reply.headers.get('x-error-code')).toBe('superadmin_required');
    }
    expect((await site.client(key.body.key).get('/')).body.principal.role).toBe('admin');
  });

  it('creates an organization, suspends it and lets it go on', async () => {
    const platform = site.client(superadmin);
    const created = await platform.post('/admin/organizations', {
      name: 'Acme',
      admin: { email: 'boss@acme.example', display_name: 'Boss' },
    });
    expect(created.status).toBe(201);
    expect(created.body.admin.invite_token).toMatch(/^inv_/);
    const boss = await site.client().post('/auth/accept-invite', {
      token: created.body.admin.invite_token,
      password: 'a long enough password',
    });
    const session = site.client(boss.body.access_token);
    expect((await session.get('/')).body.principal.organization_id).toBe(created.body.id);
    expect(
      (await session.get('/audit')).body.data.map((entry: { action: string }) => entry.action),
    ).toEqual(['invite.accepted', 'organization.created']);

    const path = `/admin/organizations/${created.body.id}`;
    expect((await platform.patch(path, { status: 'suspended' })).body.status).toBe('suspended');
    expect((await session.get('/')).status).toBe(401);
    const login = { email: 'boss@acme.example', password: 'a long enough password' };
    expect((await site.client().post('/auth/login', login)).status).toBe(401);
    expect((await platform.patch(path, { status: 'active' })).body.status).toBe('active');
    expect((await session.get('/')).status).toBe(200);
    const list = await platform.get('/admin/organizations?per_page=1&page=2');
    expect(list.body).toMatchObject({ total: 3, total_pages: 3, has_more: true, page: 2 });
    expect(list.headers.get('link')).toMatch(/page=3>; rel="next", .*page=1>; rel="prev"/);
  });

  it('keeps tenants apart', async () => {
    const platform = site.client(superadmin);
    const created = await platform.post('/admin/organizations', {
      name: 'Other',
      admin: {
        email: 'other@other.example',
        display_name: 'Other',
        password: 'a long enough password',
      },
    });
    const login = { email: 'other@other.example', password: 'a long enough password' };
    const other = site.client((await site.client().post('/auth/login', login)).body.access_token);
    const mine = site.client(site.seed.apiKey);
    const department = await mine.post('/departments', { name: 'Private' });
    for (const path of [
      `/departments/${department.body.id}`,
      `/settings/users/${site.seed.admin.id}`,
    ]) {
      const foreign = await other.get(path);
      const missing = await other.get(
        path.replace(/[^/]+$/, '01900000-0000-7000-8000-000000000000'),
      );
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(missing.body);
    }
    expect((await other.patch(`/departments/${department.body.id}`, { name: 'x' })).status).toBe(
      404,
    );
    expect((await other.get('/settings/users')).body.total).toBe(1);
    expect(created.body.admin.id).toBe((await other.get('/settings/users')).body.data[0].id);
  });

  it('leaves one admin when two demote each other at the same time', async () => {
    const password = 'a long enough password';
    const created = await site.client(superadmin).post('/admin/organizations', {
      name: 'Duel',
      admin: { email: 'first@duel.example', display_name: 'First', password },
    });
    const signIn = async (email: string) =>
      site.client((await site.client().post('/auth/login', { email, password })).body.access_token);
    const first = await signIn('first@duel.example');
    const added = await first.post('/settings/users', {
      email: 'second@duel.example',
      display_name: 'Second',
      role: 'admin',
      department_ids: [],
      password,
    });
    const second = await signIn('second@duel.example');
    const replies = await Promise.all([
      first.patch(`/settings/users/${added.body.id}`, { role: 'user' }),
      second.patch(`/settings/users/${created.body.admin.id}`, { role: 'user' }),
    ]);
    const changed = replies.filter((reply) => reply.status === 200);
    expect(changed).toHaveLength(1);
    const roles = await Promise.all([first, second].map((session) => session.get('/')));
    expect(roles.map((reply) => reply.body.principal.role).sort()).toEqual(['admin', 'user']);
  });
});
