import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServiceName } from '@dak/platform/config';
import type { Bootstrap } from '@dak/platform/deployment';
import { eventually } from '@dak/testing/waiting';

/** What `npm run build` makes; a build elsewhere is tested by naming its folder. */
export const DIST = resolve(process.env['DAK_TEST_DIST'] ?? join(__dirname, '../../dist'));
const START_WAIT_MS = 60_000;
const KEPT_OUTPUT = 4_000;

/** How Dak is run: all in one process, or every service as processes of its own. */
export interface DakRun {
  app: 'standalone' | 'distributed';
  args: readonly string[];
}

/** A distributed run with two processes of each of these services. */
export function twoOfEach(services: readonly ServiceName[]): DakRun {
  const counts = services.map((name) => `${name}=2`).join(',');
  return { app: 'distributed', args: ['--replicas', counts] };
}

/** One of a distributed run, as `bootstrap.json` tells it. */
export interface ServiceProcess {
  service: string;
  pid: number;
  http: string;
  metrics: string;
  grpc: string | null;
}

/** As a first start writes it, before a password is changed. */
export type FirstBootstrap = Bootstrap & Record<'admin' | 'superadmin', { password: string }>;

export interface RunningDak {
  bootstrap: FirstBootstrap;
  /** As `bootstrap.json` has them now; none when all is one process. */
  processes(): ServiceProcess[];
  /** Lines of the log at level error and above, so far. */
  errors: string[];
  dataDir: string;
  process: ChildProcess;
  /** JSON over HTTP with the first API key. */
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: any }>; // eslint-disable-line @typescript-eslint/no-explicit-any
  /** SIGTERM, and waits for the end; the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL: nothing is told, nothing is flushed. */
  kill(): Promise<void>;
}

/** A folder for one deployment that outlives its processes; PostgreSQL's own user can enter it. */
export function temporaryDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dak-e2e-'));
  return join(folder, 'data');
}

export function removeDataDir(dataDir: string): void {
  rmSync(resolve(dataDir, '..'), { recursive: true, force: true });
}

/** The built program, by default as `npm start` runs it, on free ports. */
export async function startDak(
  dataDir: string,
  environment: Record<string, string> = {},
  { app, args }: DakRun = { app: 'standalone', args: [] },
): Promise<RunningDak> {
  const file = join(dataDir, 'bootstrap.json');
  rmSync(file, { force: true });
  const child = spawn(process.execPath, [join(DIST, app, 'main.js'), ...args], {
    env: {
      PATH: process.env['PATH'],
      DAK_DATA_DIR: dataDir,
      DAK_HTTP_PORT: '0',
      DAK_SMTP_PORT: '0',
      DAK_LMTP_PORT: '0',
      DAK_LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said = `${said}${line}\n`.slice(-KEPT_OUTPUT);
    if (/"level":"(error|fatal)"/.test(line)) errors.push(line);
  });
  const isDecided = () => existsSync(file) || child.exitCode !== null;
  await eventually('Dak starts', isDecided, START_WAIT_MS).catch(() => undefined);
  if (!existsSync(file)) {
    child.kill('SIGKILL');
    throw new Error(`Dak did not start: ${said}`);
  }
  const bootstrap = JSON.parse(readFileSync(file, 'utf8')) as FirstBootstrap;
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return {
    bootstrap,
    processes: () =>
      (JSON.parse(readFileSync(file, 'utf8')) as { processes?: ServiceProcess[] }).processes ?? [],
    errors,
    dataDir,
    process: child,
    api: async (method, path, body, headers = {}) => {
      const response = await fetch(bootstrap.base_url + path, {
        method,
        headers: {
          authorization: `Bearer ${bootstrap.api_key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : JSON.parse(text) };
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
