import { Client } from 'pg';
import { eventually } from '@dak/testing/waiting';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('while the database is down', () => {
  let site: GatewayUnderTest;
  let server: Client;

  beforeAll(async () => {
    site = await startGateway({
      rateLimits: { readsPerMinute: 100_000, writesPerMinute: 100_000, anonymousPerMinute: 5 },
    });
    const url = new URL(site.database.adminUrl);
    url.pathname = '/postgres';
    server = new Client({ connectionString: url.toString() });
    await server.connect();
  });
  afterAll(async () => {
    await allowConnections(true);
    await server.end();
    await site.close();
  });

  async function allowConnections(allowed: boolean): Promise<void> {
    const { database } = site.database;
    await server.query(`alter database ${database} with allow_connections ${allowed}`);
    await server.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [database],
    );
  }

  it('answers 503 with Retry-After, says it is not ready, and recovers by itself', async () => {
    const admin = site.client(site.seed.apiKey);
    expect((await admin.get('/departments')).status).toBe(200);
    expect((await admin.get('/audit')).status).toBe(200);

    await allowConnections(false);
    for (let round = 0; round < 3; round += 1) {
      for (const path of ['/departments', '/audit']) {
        const reply = await admin.get(path);
        expect([path, reply.status]).toEqual([path, 503]);
        expect(reply.headers.get('retry-after')).toBe('1');
      }
      expect((await admin.post('/departments', { name: 'D' })).status).toBe(503);
      expect(
        (await site.client().post('/auth/login', { email: 'a@b.example', password: 'x' })).status,
      ).toBe(503);
      expect((await site.client().get('//readyz')).status).toBe(503);
      expect((await site.client().get('//healthz')).status).toBe(200);
    }

    await allowConnections(true);
    await admin.get('/departments');
    expect((await admin.get('/departments')).status).toBe(200);
    expect((await admin.get('/audit')).status).toBe(200);
    await eventually(
      'it is ready',
      async () => (await site.client().get('//readyz')).status === 200,
    );
  });

  it('does not take it for guessing when a credential cannot be looked up', async () => {
    const made = await site
      .client(site.seed.apiKey)
      .post('/settings/api-keys', { name: 'new', scopes: ['api.meta'] });
    const client = site.client(made.body.key);
    await allowConnections(false);
    for (let round = 0; round < 12; round += 1) expect((await client.get('/')).status).toBe(503);
    await allowConnections(true);
    await client.get('/');
    expect((await client.get('/')).status).toBe(200);
  });
});
