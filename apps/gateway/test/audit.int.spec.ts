import { Client } from 'pg';
import { UnavailableError } from '@dak/kernel';
import type { Log } from '@dak/platform/log';
import { slowPeer } from '@dak/testing/waiting';
import { openTestLog } from './event-rig';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';
import { silentService } from './silent-service';

describe('the audit log', () => {
  let site: GatewayUnderTest;
  let owner: Client;

  beforeAll(async () => {
    site = await startGateway();
    owner = new Client({ connectionString: site.database.adminUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await site.close();
  });

  it('has an entry for every change, chained to the one before, without secrets', async () => {
    const admin = await site.adminSession();
    const user = await admin.post('/settings/users', {
      email: 'u@dak.example',
      display_name: 'U',
      role: 'user',
      department_ids: [],
      password: 'a long enough password',
    });
    await admin.patch(`/settings/users/${user.body.id}`, { display_name: 'V' });
    const key = await admin.post('/settings/api-keys', { name: 'k', scopes: ['mail.read'] });
    await admin.delete(`/settings/api-keys/${key.body.id}`);
    await admin.patch('/settings/organization', { name: 'Renamed' });
    await site.client().post('/auth/login', { email: 'u@dak.example', password: 'wrong password' });
    await site
      .client()
      .post('/auth/login', { email: 'u@dak.example', password: 'a long enough password' });

    const { body } = await admin.get('/audit?per_page=100');
    expect(
      body.data.map(
        (entry: { action: string; outcome: string }) => `${entry.action} ${entry.outcome}`,
      ),
    ).toEqual([
      'session.login succeeded',
      'session.login refused',
      'organization.updated succeeded',
      'api_key.revoked succeeded',
      'api_key.created succeeded',
      'user.updated succeeded',
      'user.created succeeded',
      'session.login succeeded',
      'organization.created succeeded',
    ]);
    const text = JSON.stringify(body);
    expect(text).not.toContain(key.body.key);
    expect(text).not.toContain('password":');
    for (let i = 0; i + 1 < body.data.length; i += 1) {
      expect(body.data[i].previous_hash).toBe(body.data[i + 1].hash);
    }
    expect((await admin.get('/audit/verify')).body).toEqual({
      valid: true,
      checked: 9,
      first_bad_id: null,
    });
  });

  it('filters and pages, and follows its cursor while entries are added', async () => {
    const admin = site.client(site.seed.apiKey);
    const created = await admin.get('/audit?action=api_key.created');
    expect(created.body.data).toHaveLength(1);
    const byTarget = await admin.get(`/audit?target=${created.body.data[0].target.id}`);
    expect(byTarget.body.total).toBe(2);
    expect((await admin.get('/audit?outcome=refused')).body.total).toBe(1);
    expect((await admin.get('/audit?from=2100-01-01T00:00:00Z')).body.data).toEqual([]);

    const seen: string[] = [];
    let reply = await admin.get('/audit?per_page=3');
    for (;;) {
      seen.push(...reply.body.data.map((entry: { id: string }) => entry.id));
      await admin.patch('/settings/organization', { name: `Renamed ${seen.length}` });
      if (reply.body.next_cursor === null) break;
      reply = await admin.get(`/audit?per_page=3&cursor=${reply.body.next_cursor}`);
    }
    expect(seen).toHaveLength(9);
    expect(new Set(seen).size).toBe(9);
  });

  it('refuses a cursor with another filter, an altered one, and cursor with page', async () => {
    const admin = site.client(site.seed.apiKey);
    const { next_cursor: cursor } = (await admin.get('/audit?per_page=1')).body;
    for (const query of [
      `cursor=${cursor}&action=user.created`,
      `cursor=${cursor.slice(0, -2)}AA`,
      `cursor=${cursor}&page=1`,
    ]) {
      expect((await admin.get(`/audit?per_page=1&${query}`)).status).toBe(400);
    }
  });

  it('shows a regular user their own entries only', async () => {
    const login = await site
      .client()
      .post('/auth/login', { email: 'u@dak.example', password: 'a long enough password' });
    const { body } = await site.client(login.body.access_token).get('/audit');
    expect(body.total).toBeGreaterThan(0);
    for (const entry of body.data) expect(entry.actor.id).toBe(login.body.user.id);
  });

  it('notes refused attempts at what only admins may do', async () => {
    const login = await site
      .client()
      .post('/auth/login', { email: 'u@dak.example', password: 'a long enough password' });
    await site.client(login.body.access_token).get('/settings/users');
    const { body } = await site.client(site.seed.apiKey).get('/audit?action=access.refused');
    expect(body.data[0]).toMatchObject({
      outcome: 'refused',
      target: { type: 'route', id: 'GET /settings/users' },
      actor: { id: login.body.user.id },
    });
  });

  it('keeps one unbroken chain when many changes happen at once', async () => {
    const admin = site.client(site.seed.apiKey);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => admin.post('/departments', { name: `D${i}` })),
    );
    expect((await admin.get('/audit/verify')).body.valid).toBe(true);
  });

  it('cannot be updated, deleted or truncated, even by its owner', async () => {
    for (const statement of [
      `update audit_entry set action = 'x'`,
      'delete from audit_entry',
      'truncate audit_entry',
    ]) {
      await expect(owner.query(statement)).rejects.toThrow('append-only');
    }
  });

  it('tells which entry was altered by someone who went around the triggers', async () => {
    const admin = site.client(site.seed.apiKey);
    const { rows } = await owner.query<{ id: string }>(
      'select id from audit_entry where organization_id = $1 and sequence = 3',
      [site.seed.organizationId],
    );
    const tamper = async (statement: string) => {
      await owner.query('alter table audit_entry disable trigger all');
      await owner.query(statement, [rows[0]!.id]);
      await owner.query('alter table audit_entry enable trigger all');
    };
    await tamper(`update audit_entry set details = details || '{"x":1}' where id = $1`);
    expect((await admin.get('/audit/verify')).body).toEqual({
      valid: false,
      checked: 2,
      first_bad_id: rows[0]!.id,
    });
    await tamper(`update audit_entry set details = details - 'x' where id = $1`);
    expect((await admin.get('/audit/verify')).body.valid).toBe(true);
    await tamper(
      `delete from audit_entry where organization_id = '${site.seed.organizationId}' and $1::uuid is not null
          and sequence = (select max(sequence) from audit_entry where organization_id = '${site.seed.organizationId}')`,
    );
    expect((await admin.get('/audit/verify')).body).toMatchObject({
      valid: false,
      first_bad_id: null,
    });
  });
});

describe('many who read the audit log', () => {
  it('wait for one look at the services together', async () => {
    let looks = 0;
    const site = await startGateway({
      tenants: [
        silentService({
          settleAudit: async () => {
            looks += 1;
            await slowPeer(50);
            return {};
          },
        }),
      ],
    });
    try {
      const admin = site.client(site.seed.apiKey);
      const replies = await Promise.all(Array.from({ length: 60 }, () => admin.get('/audit')));
      expect(replies.every(({ status }) => status === 200)).toBe(true);
      expect(looks).toBeGreaterThan(0);
      expect(looks).toBeLessThan(20);
    } finally {
      await site.close();
    }
  });

  it('wait for each service, also while another one is away', async () => {
    let hasSettled = false;
    const site = await startGateway({
      tenants: [
        silentService({
          settleAudit: () => Promise.reject(new UnavailableError('The service is away.')),
        }),
        silentService({
          settleAudit: async () => {
            await slowPeer(50);
            hasSettled = true;
            return {};
          },
        }),
      ],
    });
    try {
      const { status } = await site.client(site.seed.apiKey).get('/audit');
      expect([status, hasSettled]).toEqual([200, true]);
    } finally {
      await site.close();
    }
  });

  it('see what is there while the event log is away', async () => {
    const events = await openTestLog();
    const site = await startGateway({ log: withoutLag(events.log) });
    try {
      const { status, body } = await site.client(site.seed.apiKey).get('/audit');
      expect([status, body.total]).toEqual([200, 1]);
    } finally {
      await site.close();
      await events.close();
    }
  });
});

/** As when nobody can say how far its readers are. */
function withoutLag(log: Log): Log {
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'lag') return () => Promise.reject(new Error('the event log is away'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
