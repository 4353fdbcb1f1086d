import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '@dak/testing/database';

export interface NativeBrokerOptions {
  /** Becomes the Java process; says "Kafka Server started" when it answers. */
  command: readonly [string, ...string[]];
  /** File for its output. */
  output: string;
}

const START_WAIT_MS = 120_000;
const STOP_WAIT_MS = 15_000;
const STARTED = 'Kafka Server started';

/** A broker in a separate process on this machine. */
export class NativeBroker {
  readonly #options: NativeBrokerOptions;
  #pid = 0;

  constructor(options: NativeBrokerOptions) {
    this.#options = options;
  }

  /** Pid of the Java process; different after each start. */
  get pid(): number {
    return this.#pid;
  }

  /** @throws Error with the end of the broker's output when it does not start. */
  async start(): Promise<void> {
    const { command, output } = this.#options;
    const log = openSync(output, 'w');
    const child = spawn(command[0], command.slice(1), {
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    this.#pid = child.pid!;
    const deadline = Date.now() + START_WAIT_MS;
    while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
      if (readFileSync(output, 'utf8').includes(STARTED)) return;
      await delay(50);
    }
    child.kill('SIGKILL');
    throw new Error(`Kafka did not start: ${readFileSync(output, 'utf8').slice(-2_000)}`);
  }

  /** Ends the process as a power cut would end it, except that the page cache survives. */
  kill(): void {
    if (isAlive(this.#pid)) process.kill(this.#pid, 'SIGKILL');
  }

  /** Starts the killed or stopped broker again on its port and its data. */
  async restart(): Promise<void> {
    await this.#ended();
    await this.start();
  }

  async stop(): Promise<void> {
    if (isAlive(this.#pid)) process.kill(this.#pid, 'SIGTERM');
    await this.#ended();
  }

  async #ended(): Promise<void> {
    const deadline = Date.now() + STOP_WAIT_MS;
    while (isAlive(this.#pid)) {
      if (Date.now() > deadline) process.kill(this.#pid, 'SIGKILL');
      await delay(20);
    }
  }
}
