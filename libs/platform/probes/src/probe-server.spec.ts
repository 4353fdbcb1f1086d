import { UnavailableError } from '@dak/kernel';
import { Gauge, Registry } from 'prom-client';
import { startProbeServer, type ProbeServer } from './probe-server';

describe('the probes', () => {
  let failure: Error | null = null;
  let server: ProbeServer;
  const ask = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, await response.text()];
  };

  beforeAll(async () => {
    const metrics = new Registry();
    new Gauge({ name: 'dak_test', help: 'A test', registers: [metrics] }).set(7);
    const isReady = () => (failure === null ? Promise.resolve() : Promise.reject(failure));
    server = await startProbeServer({ host: '127.0.0.1', port: 0, isReady, metrics });
  });
  afterAll(() => server.close());

  it('tell that the process lives, whether it is ready, and its metrics', async () => {
    expect(await ask('/healthz')).toEqual([200, 'ok\n']);
    expect(await ask('/readyz')).toEqual([200, 'ready\n']);
    expect((await ask('/metrics'))[1]).toContain('dak_test 7');
    expect((await ask('/'))[0]).toBe(404);
  });

  it('say in a sentence what is away, and nothing of what is wrong inside', async () => {
    failure = new UnavailableError('The database does not answer.');
    expect(await ask('/readyz')).toEqual([503, 'The database does not answer.\n']);
    failure = new TypeError('secret internals');
    expect(await ask('/readyz')).toEqual([503, 'not ready\n']);
    expect(await ask('/healthz')).toEqual([200, 'ok\n']);
  });
});
