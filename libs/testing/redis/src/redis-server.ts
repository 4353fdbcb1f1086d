import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@dak/platform/lifecycle';
import { isAlive, joinRunServer, type RunServer } from '@dak/testing/database';

export interface TestRedis {
  url: string;
  /** Unique per call, so that test files can share one server. */
  keyPrefix: string;
}

const START_WAIT_MS = 10_000;

type RedisSource = 'url' | 'binary' | 'container';

/** `DAK_TEST_REDIS_URL`, else `redis-server` from the path, else Docker; null when there is none. */
function redisSource(): RedisSource | null {
  if (process.env['DAK_TEST_REDIS_URL']) return 'url';
  if (spawnSync('redis-server', ['--version']).status === 0) return 'binary';
  return spawnSync('docker', ['info']).status === 0 ? 'container' : null;
}

/**
 * A suite against a real Redis; `open` gives every caller its own key prefix. Without any Redis the
 * suite is left out and says so aloud; under `CI`, where that would be a failure, it throws.
 */
export function describeWithRedis(
  title: string,
  suite: (open: () => Promise<TestRedis>) => void,
): void {
  const source = redisSource();
  if (source === null) {
    const sentence =
      'No Redis for tests: set DAK_TEST_REDIS_URL, install redis-server or start Docker.';
    if (process.env['CI']) throw new Error(sentence);
    process.stderr.write(`\n*** ${sentence} NOT run: ${title} ***\n\n`);
    describe.skip(title, () => suite(() => Promise.reject(new Error(sentence))));
    return;
  }
  describe(title, () => suite(() => openRedis(source)));
}

async function openRedis(source: RedisSource): Promise<TestRedis> {
  const keyPrefix = `t${randomBytes(6).toString('hex')}:`;
  if (source === 'url') return { url: process.env['DAK_TEST_REDIS_URL']!, keyPrefix };
  const start = source === 'binary' ? startRedis : startContainer;
  const server = await joinRunServer('redis', start);
  return { url: server.details['url']!, keyPrefix };
}

/** Starts a Redis that keeps nothing, on a free loopback port. */
async function startRedis(folder: string): Promise<RunServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const child = spawn(
      'redis-server',
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
        ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
      ],
      { detached: true, stdio: 'ignore' },
    );
    child.unref();
    if (await accepts(port, child.pid!)) {
      return {
        pid: child.pid!,
        stopSignal: 'TERM',
        details: { url: `redis://127.0.0.1:${port}` },
      };
    }
    if (isAlive(child.pid!)) process.kill(child.pid!, 'SIGKILL');
    if (attempt === 3) throw new Error('redis-server is installed but did not start.');
  }
}

async function accepts(port: number, pid: number): Promise<boolean> {
  const deadline = Date.now() + START_WAIT_MS;
  while (Date.now() < deadline && isAlive(pid)) {
    const connected = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => socket.end(() => resolve(true)));
      socket.once('error', () => resolve(false));
    });
    if (connected) return true;
    await delay(10);
  }
  return false;
}

async function startContainer(): Promise<RunServer> {
  const { GenericContainer } = await import('testcontainers');
  const image = process.env['DAK_TEST_REDIS_IMAGE'] ?? 'redis:7-alpine';
  const container = await new GenericContainer(image).withExposedPorts(6379).start();
  const address = `${container.getHost()}:${container.getMappedPort(6379)}`;
  return { pid: process.pid, stopSignal: null, details: { url: `redis://${address}` } };
}
