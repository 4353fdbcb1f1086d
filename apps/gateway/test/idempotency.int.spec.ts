import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('Idempotency-Key', () => {
  let site: GatewayUnderTest;
  const key = (value: string) => ({ 'Idempotency-Key': value });

  beforeAll(async () => {
    site = await startGateway();
  });
  afterAll(async () => {
    await site.close();
  });

  it('answers the same request from storage, secrets included', async () => {
    const admin = site.client(site.seed.apiKey);
    const body = { name: 'once', scopes: ['api.meta'] };
    const first = await admin.post('/settings/api-keys', body, key('a'));
    const second = await admin.post('/settings/api-keys', body, key('a'));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const keys = await admin.get('/settings/api-keys?per_page=100');
    expect(keys.body.data.filter((one: { name: string }) => one.name === 'once')).toHaveLength(1);
  });

  it('refuses the key for another body with 422', async () => {
    const admin = site.client(site.seed.apiKey);
    await admin.post('/departments', { name: 'One' }, key('b'));
    const reply = await admin.post('/departments', { name: 'Two' }, key('b'));
    expect(reply.status).toBe(422);
    expect(reply.headers.get('x-error-code')).toBe('idempotency_mismatch');
  });

  it('is separate per route and per credential', async () => {
    const admin = site.client(site.seed.apiKey);
    const other = await admin.post('/settings/api-keys', {
      name: 'other',
      scopes: ['departments.manage'],
    });
    expect((await admin.post('/departments', { name: 'Three' }, key('c'))).status).toBe(201);
    const elsewhere = await site
      .client(other.body.key)
      .post('/departments', { name: 'Four' }, key('c'));
    expect(elsewhere.body.name).toBe('Four');
  });

  it('does not store an error: the request may be repeated once its cause is gone', async () => {
    const admin = site.client(site.seed.apiKey);
    const taken = await admin.post('/departments', { name: 'Taken' });
    expect((await admin.post('/departments', { name: 'Taken' }, key('d'))).status).toBe(409);
    await admin.delete(`/departments/${taken.body.id}`);
    expect((await admin.post('/departments', { name: 'Taken' }, key('d'))).status).toBe(201);
  });

  it('runs once when many send it at the same time; the others get its answer or 409', async () => {
    const admin = site.client(site.seed.apiKey);
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => admin.post('/departments', { name: 'Raced' }, key('e'))),
    );
    for (const reply of replies) {
      if (reply.status === 409) {
        expect(reply.headers.get('x-error-code')).toBe('idempotency_in_progress');
        expect(reply.headers.get('retry-after')).toBe('1');
      } else {
        expect(reply.status).toBe(201);
      }
    }
    const fresh = replies.filter(
      (reply) => reply.status === 201 && reply.headers.get('idempotency-replayed') === null,
    );
    expect(fresh).toHaveLength(1);
    const list = await admin.get('/departments?per_page=100');
    expect(list.body.data.filter((one: { name: string }) => one.name === 'Raced')).toHaveLength(1);
  });

  it('must have 1 to 256 printable characters', async () => {
    const admin = site.client(site.seed.apiKey);
    for (const value of ['', ' ', 'x'.repeat(257), 'ü']) {
      const reply = await admin.post('/departments', { name: 'No' }, key(value));
      expect(reply.status).toBe(400);
      expect(reply.headers.get('x-error-code')).toBe('invalid_idempotency_key');
    }
    expect((await admin.post('/departments', { name: 'Yes' }, key('x'.repeat(256)))).status).toBe(
      201,
    );
  });
});
