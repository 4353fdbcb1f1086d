import { UnavailableError } from '@dak/kernel';
import { Gauge, Registry } from 'prom-client';
import { startProbeServer, type ProbeServer } from './probe-server';
import { Probes } from './probes';

describe('the probes', () => {
  let failure: Error | null = null;
  let isStarted = false;
  let questions = 0;
  let scrapes = 0;
  let server: ProbeServer;
  const ask = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, await response.text()];
  };

  /** Answers are kept for a second. */
  const answers = async (status: number, text: string): Promise<void> => {
    const deadline = performance.now() + 5_000;
    while ((await ask('/readyz'))[1] !== text) {
      if (performance.now() > deadline) throw new Error(`never said ${text}`);
    }
    expect(await ask('/readyz')).toEqual([status, text]);
  };

  beforeAll(async () => {
    const metrics = new Registry();
    new Gauge({
      name: 'dak_test',
      help: 'A test',
      registers: [metrics],
      collect() {
        scrapes += 1;
        this.set(7);
      },
    });
    const isReady = () => {
      questions += 1;
      return failure === null ? Promise.resolve() : Promise.reject(failure);
    };
    const probes = new Probes({ isReady, isStarted: () => isStarted, metrics });
    server = await startProbeServer({ host: '127.0.0.1', port: 0, probes });
  });
  afterAll(() => server.close());

  it('are not ready before the process has started, whatever its dependencies', async () => {
    expect(await ask('/readyz')).toEqual([503, 'starting\n']);
    expect(await ask('/readyz?exclude=dependencies')).toEqual([503, 'starting\n']);
    expect(await ask('/healthz')).toEqual([200, 'ok\n']);
    isStarted = true;
    expect(await ask('/readyz?exclude=dependencies')).toEqual([200, 'ready\n']);
    expect(questions).toBe(0);
  });

  it('tell that the process lives, whether it is ready, and its metrics', async () => {
    expect(await ask('/healthz')).toEqual([200, 'ok\n']);
    expect(await ask('/readyz')).toEqual([200, 'ready\n']);
    expect((await ask('/metrics'))[1]).toContain('dak_test 7');
    expect((await ask('/'))[0]).toBe(404);
  });

  it('ask and count once for many who want to know', async () => {
    const before = { questions, scrapes };
    await Promise.all(Array.from({ length: 100 }, () => ask('/readyz')));
    await Promise.all(Array.from({ length: 100 }, () => ask('/metrics')));
    expect(questions - before.questions).toBeLessThanOrEqual(3);
    expect(scrapes - before.scrapes).toBeLessThanOrEqual(1);
  });

  it('say where else to listen when the port is taken', async () => {
    const probes = new Probes({ isReady: () => Promise.resolve(), metrics: new Registry() });
    await expect(
      startProbeServer({ host: '127.0.0.1', port: server.port, probes }),
    ).rejects.toThrow('DAK_METRICS_PORT');
  });

  it('say in a sentence what is away, and nothing of what is wrong inside', async () => {
    failure = new UnavailableError('The database does not answer.');
    await answers(503, 'The database does not answer.\n');
    expect(await ask('/readyz?exclude=dependencies')).toEqual([200, 'ready\n']);
    failure = new TypeError('secret internals');
    await answers(503, 'not ready\n');
    expect(await ask('/healthz')).toEqual([200, 'ok\n']);
  });
});
