import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const RIGHT = 'a long enough password';

describe('guessing at the doors', () => {
  let site: GatewayUnderTest;

  beforeAll(async () => {
    site = await startGateway({
      trustedProxies: ['127.0.0.1'],
      rateLimits: { readsPerMinute: 100_000, writesPerMinute: 100_000, authPerMinute: 30 },
    });
    const admin = await site.adminSession();
    for (const name of ['ada', 'bob', 'eve']) {
      const email = `${name}@dak.example`;
      await admin.post('/settings/users', { email, display_name: name, password: RIGHT });
    }
  });
  afterAll(async () => {
    await site.close();
  });

  const login = (email: string, password: string, address: string) =>
    site.client().post('/auth/login', { email, password }, { 'X-Forwarded-For': address });
  const statuses = (replies: readonly { status: number }[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it('looks at ten passwords of an account at most, however many come at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 80 }, (_, i) => login('ada@dak.example', `wrong ${i}`, '192.0.2.1')),
    );
    expect(statuses(replies)).toEqual({ 401: 10, 429: 70 });
    for (const { status, headers } of replies) {
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  });

  it('keeps the account open for every other address, and the address for every other account', async () => {
    expect((await login('ada@dak.example', RIGHT, '192.0.2.2')).status).toBe(200);
    for (let i = 0; i < 10; i += 1) {
      expect((await login('bob@dak.example', 'wrong', '198.51.100.1')).status).toBe(401);
    }
    const locked = await login('bob@dak.example', RIGHT, '198.51.100.1');
    expect([locked.status, locked.headers.get('x-error-code')]).toEqual([429, 'login_throttled']);
    expect((await login('eve@dak.example', RIGHT, '198.51.100.1')).status).toBe(200);
    expect((await login('bob@dak.example', RIGHT, '198.51.100.2')).status).toBe(200);
  });

  it('locks out nobody but the address from which a hundred guesses come', async () => {
    for (let i = 0; i < 100; i += 1) {
      await login(`nobody${i}@dak.example`, 'wrong', '203.0.113.66');
    }
    expect((await login('eve@dak.example', RIGHT, '203.0.113.66')).status).toBe(429);
    expect((await login('eve@dak.example', RIGHT, '203.0.113.67')).status).toBe(200);
  });

  it('counts all addresses of a subscriber with IPv6 as one', async () => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        login(`v6-${i}@dak.example`, 'wrong', `2001:db8:7:7::${i + 1}`),
      ),
    );
    expect(statuses(replies)[401]).toBeLessThanOrEqual(31);
    expect((await login('eve@dak.example', RIGHT, '2001:db8:7:8::1')).status).toBe(200);
  });

  it('counts logins and invites of one address together', async () => {
    const address = '192.0.2.40';
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0
          ? login(`one${i}@dak.example`, 'wrong', address)
          : site
              .client()
              .post(
                '/auth/accept-invite',
                { token: `inv_${i}`, password: RIGHT },
                { 'X-Forwarded-For': address },
              ),
      ),
    );
    // One more comes back every two seconds.
    expect(statuses(replies)[429]).toBeGreaterThanOrEqual(8);
    expect((await login('eve@dak.example', RIGHT, '192.0.2.41')).status).toBe(200);
  });

  it('does not count right passwords as failures', async () => {
    for (let i = 0; i < 15; i += 1) {
      expect((await login('eve@dak.example', RIGHT, '198.51.100.9')).status).toBe(200);
    }
  });

  it('treats an address that nobody has like one that somebody has', async () => {
    const replies = [];
    for (let i = 0; i < 12; i += 1) {
      replies.push(await login('missing@dak.example', 'wrong', '192.0.2.30'));
    }
    expect(replies.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 10 }, () => 401),
      ...[429, 429],
    ]);
  });

  it('hashes nothing for a made-up invite, so that a login beside hundreds of them gets through', async () => {
    const storm = Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        site
          .client()
          .post(
            '/auth/accept-invite',
            { token: `inv_${i}`, password: RIGHT },
            { 'X-Forwarded-For': `198.51.100.${i % 200}` },
          ),
      ),
    );
    expect((await login('eve@dak.example', RIGHT, '198.51.100.21')).status).toBe(200);
    // The queue of hashing has room for 66: with a hash for each the rest would be 503.
    expect(statuses(await storm)).toEqual({ 400: 400 });
  });

  it('sends away whoever comes when too many passwords are being hashed, and lets others in again', async () => {
    const replies = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        login(`flood${i}@dak.example`, 'wrong', `203.0.${Math.floor(i / 250)}.${i % 250}`),
      ),
    );
    const counts = statuses(replies);
    expect(Object.keys(counts).sort()).toEqual(['401', '503']);
    const away = replies.find(({ status }) => status === 503)!;
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await login('eve@dak.example', RIGHT, '203.0.113.90')).status).toBe(200);
  });

  it('does not count as failures the passwords that it did not look at', async () => {
    const flood = Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        login(`crowd${i}@dak.example`, 'wrong', `203.0.1.${i}`),
      ),
    );
    const away = await Promise.all(
      Array.from({ length: 10 }, () => login('eve@dak.example', RIGHT, '203.0.113.91')),
    );
    expect(statuses(away)[503]).toBeGreaterThan(0);
    await flood;
    for (let i = 0; i < 9; i += 1) {
      expect((await login('eve@dak.example', 'wrong', '203.0.113.91')).status).toBe(401);
    }
    expect((await login('eve@dak.example', RIGHT, '203.0.113.91')).status).toBe(200);
  });

  it('tells how often it refused', async () => {
    for (let i = 0; i < 11; i += 1) await login('bob@dak.example', 'wrong', '192.0.2.77');
    expect((await login('bob@dak.example', RIGHT, '192.0.2.77')).status).toBe(429);
    const text = await site.metrics.metrics();
    expect(text).toMatch(/dak_rate_limited_total\{class="login"\} [1-9]/);
    expect(text).toMatch(/dak_rate_limited_total\{class="auth"\} [1-9]/);
    expect(text).toMatch(/dak_login_failures_total [1-9]/);
  });
});

describe('who names a client', () => {
  it('is no client without a trusted proxy', async () => {
    const site = await startGateway();
    try {
      const replies = [];
      for (let i = 0; i < 11; i += 1) {
        replies.push(
          await site
            .client()
            .post(
              '/auth/login',
              { email: 'a@dak.example', password: 'wrong' },
              { 'X-Forwarded-For': `192.0.2.${i}`, Forwarded: `for=192.0.2.${i}` },
            ),
        );
      }
      expect(replies.at(-1)!.status).toBe(429);
    } finally {
      await site.close();
    }
  });
});
