import { execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@dak/platform/lifecycle';
import { isAlive } from '@dak/testing/database';

/** An Apache Kafka of one node that this process started from its jars. */
export interface NativeKafka {
  /** `host:port`, as a client wants it. */
  readonly brokers: string;
  /** Of the Java process; another one after each start. */
  readonly pid: number;
  /** Ends the process as a power cut would end it, except that the page cache survives. */
  kill(): void;
  /** Starts the killed or stopped broker again on its port and its data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const RUN_BROKER = resolve(__dirname, '../broker/run-broker');
/** Has its own limit for a first download. */
const FETCH_JARS = resolve(__dirname, '../broker/fetch-jars');
const START_WAIT_MS = 120_000;
const STOP_WAIT_MS = 15_000;
const STARTED = 'Kafka Server started';

/** Java runs the broker, Maven fetches its jars. */
export function canRunKafka(): boolean {
  return spawnSync('java', ['-version']).status === 0 && spawnSync('mvn', ['-v']).status === 0;
}

/**
 * Starts a broker that keeps its data in `folder`, on free loopback ports. It outlives this process
 * unless it is stopped.
 *
 * @throws Error when the jars cannot be fetched, or with the end of the broker's output when it does not start.
 */
export async function startNativeKafka(folder: string): Promise<NativeKafka> {
  await promisify(execFile)(FETCH_JARS);
  const port = await freePort();
  const controllerPort = await freePort();
  const output = join(folder, 'broker.log');
  let pid = await launch(folder, [port, controllerPort], output);
  return {
    brokers: `127.0.0.1:${port}`,
    get pid() {
      return pid;
    },
    kill: () => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    },
    restart: async () => {
      await ended(pid);
      pid = await launch(folder, [port, controllerPort], output);
    },
    stop: async () => {
      if (isAlive(pid)) process.kill(pid, 'SIGTERM');
      await ended(pid);
    },
  };
}

async function launch(folder: string, ports: readonly number[], output: string): Promise<number> {
  const log = openSync(output, 'w');
  const child = spawn(RUN_BROKER, [folder, ...ports.map(String)], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  const deadline = Date.now() + START_WAIT_MS;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (readFileSync(output, 'utf8').includes(STARTED)) return child.pid!;
    await delay(50);
  }
  child.kill('SIGKILL');
  throw new Error(`Kafka did not start: ${readFileSync(output, 'utf8').slice(-2_000)}`);
}

async function ended(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_WAIT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await delay(20);
  }
}
