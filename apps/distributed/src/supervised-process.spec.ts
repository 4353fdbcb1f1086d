import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@dak/platform/lifecycle';
import { createLogger } from '@dak/platform/logging';
import { eventually } from '@dak/testing/waiting';
import { SupervisedProcess } from './supervised-process';

const PROGRAM = `
  const { createServer } = require('node:http');
  if (process.env.MOOD === 'broken') {
    console.error('a line of the log');
    console.error('Dak cannot start: The folder is read-only.');
    process.exit(1);
  }
  process.on('SIGTERM', () => { if (process.env.MOOD !== 'deaf') process.exit(0); });
  process.on('disconnect', () => process.exit(0));
  createServer((_, response) => response.end(String(process.pid))).listen(process.env.PORT, '127.0.0.1');
`;

describe('a supervised process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-supervised-'));
  const program = join(folder, 'main.js');
  const started: SupervisedProcess[] = [];
  let probeUrl = '';
  let restarts = 0;

  beforeAll(() => writeFileSync(program, PROGRAM));
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.stop(0)));
    restarts = 0;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const supervise = async (mood = 'well'): Promise<SupervisedProcess> => {
    const port = await freePort();
    probeUrl = `http://127.0.0.1:${port}`;
    const one = new SupervisedProcess({
      name: 'mail 1',
      program,
      args: [],
      environment: { PORT: String(port), MOOD: mood },
      probeUrl,
      logger: createLogger('test', 'silent'),
      onRestarted: () => (restarts += 1),
    });
    started.push(one);
    return one;
  };
  const answers = async (url = probeUrl): Promise<number> =>
    Number(await (await fetch(url).catch(() => null))?.text());
  /** A process that ends now is started again no earlier than one that ended before. */
  const anotherIsRestarted = async (): Promise<void> => {
    const other = await supervise();
    await other.start();
    process.kill(other.pid, 'SIGKILL');
    await eventually(() => restarts > 0);
  };

  it('is started again when it is killed, with another pid at the same address', async () => {
    const one = await supervise();
    await one.start();
    const { pid } = one;
    expect(await answers()).toBe(pid);
    process.kill(pid, 'SIGKILL');
    await eventually(async () => one.pid !== pid && (await answers()) === one.pid);
    expect(restarts).toBe(1);
  });

  it('says why it could not start, and stays down', async () => {
    const one = await supervise('broken');
    await expect(one.start()).rejects.toThrow('mail 1: The folder is read-only.');
    await anotherIsRestarted();
    expect(restarts).toBe(1);
  });

  it('ends when it is told to and is not started again', async () => {
    const one = await supervise();
    await one.start();
    const ownUrl = probeUrl;
    await one.stop(5_000);
    await anotherIsRestarted();
    expect(await answers(ownUrl)).toBeNaN();
    expect(restarts).toBe(1);
  });

  it('is killed when it does not end in time', async () => {
    const one = await supervise('deaf');
    await one.start();
    const before = Date.now();
    await one.stop(200);
    expect(Date.now() - before).toBeGreaterThanOrEqual(190);
    expect(await answers()).toBeNaN();
  });
});
