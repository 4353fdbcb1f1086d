import { execFile, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@dak/platform/lifecycle';
import { NativeBroker } from './native-broker';

/** An Apache Kafka of one node that this process started from its jars. */
export interface NativeKafka {
  /** `host:port`, as a client wants it. */
  readonly brokers: string;
  /** Pid of the Java process; different after each start. */
  readonly pid: number;
  /** Ends the process as a power cut would end it, except that the page cache survives. */
  kill(): void;
  /** Starts the killed or stopped broker again on its port and its data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const BROKER = resolve(__dirname, '../broker');

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
  // Has its own limit for a first download.
  await promisify(execFile)(join(BROKER, 'fetch-jars'));
  const port = await freePort();
  const controllerPort = await freePort();
  const broker = new NativeBroker({
    command: [join(BROKER, 'run-broker'), folder, String(port), String(controllerPort)],
    output: join(folder, 'broker.log'),
  });
  await broker.start();
  return {
    brokers: `127.0.0.1:${port}`,
    get pid() {
      return broker.pid;
    },
    kill: () => broker.kill(),
    restart: () => broker.restart(),
    stop: () => broker.stop(),
  };
}
