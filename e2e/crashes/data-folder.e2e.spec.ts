import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  DIST,
  removeDataDir,
  startDak,
  temporaryDataDir,
  type RunningDak,
} from '../stack/running-dak';

/** Namespaces of its own, as another container has on the same volume; for root alone. */
const CONTAINER = ['unshare', '--pid', '--ipc', '--mount-proc', '--fork'];
const canIsolate = spawnSync(CONTAINER[0]!, [...CONTAINER.slice(1), 'true']).status === 0;

interface Ended {
  code: number | null;
  said: string;
}

function secondStart(dataDir: string, prefix: readonly string[] = []): Promise<Ended> {
  const [program, ...args] = [
    ...prefix,
    process.execPath,
    join(DIST, 'standalone/main.js'),
  ] as const;
  const child = spawn(program, args, {
    env: {
      PATH: process.env['PATH'],
      DAK_DATA_DIR: dataDir,
      DAK_HTTP_PORT: '0',
      DAK_SMTP_PORT: '0',
      DAK_LMTP_PORT: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

describe('a data folder', () => {
  const dataDir = temporaryDataDir();
  let dak: RunningDak;
  const filesOfTheRunningOne = (): string[] =>
    ['dak.lock', 'bootstrap.json', 'secrets.json', 'postgres/data/postmaster.pid'].map((name) =>
      readFileSync(join(dataDir, name), 'utf8'),
    );

  beforeAll(async () => {
    // Where PostgreSQL's user can enter the folder, the cluster is in it.
    chmodSync(dirname(dataDir), 0o755);
    dak = await startDak(dataDir);
  }, 90_000);
  afterAll(async () => {
    await dak.kill();
    removeDataDir(dataDir);
  });

  const starts: [string, readonly string[]][] = [['beside it', []]];
  if (canIsolate) starts.push(['in another container', CONTAINER]);

  it.each(starts)(
    'is of one Dak: a second start %s ends and touches nothing',
    async (_where, prefix) => {
      const before = filesOfTheRunningOne();
      const { code, said } = await secondStart(dataDir, prefix);
      expect(code).toBe(75);
      expect(said).toMatch(/^Dak cannot start: the data folder \S+ is in use .+\n$/);
      expect(filesOfTheRunningOne()).toEqual(before);
      expect((await dak.api('GET', '/mailboxes')).status).toBe(200);
      expect(dak.errors).toEqual([]);
    },
    60_000,
  );

  it('is free at once when Dak was killed', async () => {
    await dak.kill();
    dak = await startDak(dataDir);
    expect((await dak.api('GET', '/mailboxes')).status).toBe(200);
  }, 90_000);
});
