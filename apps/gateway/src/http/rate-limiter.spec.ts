import { MemorySharedState, type SharedState } from '@dak/platform/shared-state';
import { pushRateHeaders, RateLimiter, rateLimits, requireAllowance } from './rate-limiter';

const LIMITS = rateLimits({
  readsPerMinute: 3,
  writesPerMinute: 1,
  anonymousPerMinute: 2,
  authPerMinute: 1,
});

describe('limits that are not given', () => {
  it('are those of the documentation', () => {
    expect(rateLimits()).toEqual({
      readsPerMinute: 600,
      writesPerMinute: 60,
      anonymousPerMinute: 600,
      authPerMinute: 30,
    });
  });

  it('follow the reads upwards only', () => {
    expect(rateLimits({ readsPerMinute: 200_000 })).toMatchObject({
      anonymousPerMinute: 20_000,
      authPerMinute: 100,
    });
    expect(rateLimits({ readsPerMinute: 10 })).toMatchObject({
      anonymousPerMinute: 600,
      authPerMinute: 30,
    });
  });
});

describe('the rate limiter', () => {
  let state: SharedState;
  let limiter: RateLimiter;

  beforeEach(() => {
    state = new MemorySharedState();
    limiter = new RateLimiter(state, LIMITS);
  });
  afterEach(async () => {
    await limiter.close();
    await state.close();
  });

  it('counts reads and writes of each credential apart', async () => {
    expect((await limiter.take('a', 'write')).consumption.allowed).toBe(true);
    expect((await limiter.take('a', 'write')).consumption.allowed).toBe(false);
    expect((await limiter.take('b', 'write')).consumption.allowed).toBe(true);
    expect((await limiter.take('a', 'read')).consumption.allowed).toBe(true);
  });

  it('counts strangers by address, IPv6 by network, and gives back', async () => {
    const take = async (address: string) =>
      (await limiter.takeAnonymous(address)).consumption.allowed;
    expect([await take('2001:db8::1'), await take('2001:db8::2')]).toEqual([true, true]);
    expect(await take('2001:db8::3')).toBe(false);
    expect(await take('2001:db8:0:1::1')).toBe(true);
    await limiter.giveBackAnonymous('2001:db8::9');
    expect(await take('2001:db8::3')).toBe(true);
  });

  it('does not mix up addresses that ask and addresses that sign in', async () => {
    await limiter.takeAuth('192.0.2.1');
    expect((await limiter.takeAuth('192.0.2.1')).consumption.allowed).toBe(false);
    expect((await limiter.takeAnonymous('192.0.2.1')).consumption.allowed).toBe(true);
  });

  it('counts for itself while the shared state does not answer', async () => {
    const away = {
      consume: () => Promise.reject(new Error('no Redis')),
    } as unknown as SharedState;
    const alone = new RateLimiter(away, LIMITS);
    expect((await alone.take('a', 'write')).consumption.allowed).toBe(true);
    expect((await alone.take('a', 'write')).consumption.allowed).toBe(false);
    await alone.close();
  });

  it('says in a refusal how long to wait, at least a second', async () => {
    await limiter.take('a', 'write');
    const refused = await limiter.take('a', 'write');
    expect(() => requireAllowance(refused)).toThrow(
      expect.objectContaining({
        kind: 'rate_limited',
        retryAfterSeconds: 60,
        message: expect.stringContaining('More than 1 requests'),
      }),
    );
    const soon = { ...refused, consumption: { ...refused.consumption, retryAfterMs: 0.4 } };
    expect(() => requireAllowance(soon)).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  });

  it('shows whole numbers in the headers, never below none', () => {
    const headers: string[] = [];
    pushRateHeaders(headers, {
      class: 'read',
      limit: 3,
      policy: '3;w=60',
      consumption: { allowed: false, remaining: -0.5, resetMs: 59_001, retryAfterMs: 1 },
    });
    expect(headers).toEqual([
      ...['RateLimit-Limit', '3', 'RateLimit-Remaining', '0'],
      ...['RateLimit-Reset', '60', 'RateLimit-Policy', '3;w=60'],
    ]);
  });
});
