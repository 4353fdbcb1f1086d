import { createResolver } from '../src/guarded-connector';
import { createGuardedHttp, parseAllowance, NO_ALLOWANCE } from '../src/index';
import { startReceiver } from './hostile-receiver';
import { startNameServer, type NameServer, type Zone } from '@dak/testing/name-server';

const request = { headers: {}, body: Buffer.from('{}'), timeoutMs: 3_000 };

describe('the resolver, against a name server', () => {
  const zone: Zone = new Map();
  let server: NameServer;
  beforeAll(async () => {
    server = await startNameServer(zone);
  });
  afterAll(() => server.close());
  const resolver = (allow = '') => createResolver(parseAllowance(allow), [server.address]);

  it('gives every address of a name', async () => {
    zone.set('two.example.com', ['198.41.0.4', '10.0.0.1']);
    expect(await resolver()('two.example.com')).toEqual([
      { address: '198.41.0.4', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
  });

  it('rejects for a name that does not exist or whose server fails', async () => {
    zone.set('broken.example.com', 'fails');
    await expect(resolver()('missing.example.com')).rejects.toThrow('ENOTFOUND');
    await expect(resolver()('broken.example.com')).rejects.toThrow('ESERVFAIL');
  });

  it('asks nobody for local names and names that the operator allowed', async () => {
    const before = server.queries.length;
    expect(await resolver()('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
    await resolver('allowed.localhost')('allowed.localhost').catch(() => undefined);
    expect(server.queries).toHaveLength(before);
  });

  it('refuses to connect to a name that flips from a public to a private address', async () => {
    const http = createGuardedHttp({
      allow: NO_ALLOWANCE,
      resolve: resolver(),
      connectTimeoutMs: 200,
    });
    const flipped = () => http.post('https://flips.example.com/', request);
    zone.set('flips.example.com', ['198.51.100.7', '198.41.0.4']);
    expect(await flipped()).toMatchObject({ code: 'blocked_address' });
    zone.set('flips.example.com', ['127.0.0.1']);
    expect(await flipped()).toMatchObject({ code: 'blocked_address' });
    expect(server.queries.filter((name) => name === 'flips.example.com').length).toBeGreaterThan(2);
    await http.close();
  });

  it('that waits for slow name servers holds up no other receiver', async () => {
    const sink = await startReceiver('ok');
    const http = createGuardedHttp({
      allow: parseAllowance('127.0.0.0/8'),
      resolve: resolver(),
      connectTimeoutMs: 800,
    });
    const slow = Array.from({ length: 32 }, (_, index) => {
      zone.set(`slow-${index}.example.com`, 'silent');
      return http.post(`https://slow-${index}.example.com/`, request);
    });
    zone.set('fast.example.com', ['127.0.0.1']);
    const startedAt = performance.now();
    expect(await http.post(`http://fast.example.com:${sink.port}/`, request)).toMatchObject({
      status: 204,
    });
    expect(performance.now() - startedAt).toBeLessThan(500);
    for (const outcome of await Promise.all(slow)) {
      expect(outcome).toMatchObject({ kind: 'error', code: 'connect_timeout' });
    }
    await http.close();
    await sink.close();
  });
});
