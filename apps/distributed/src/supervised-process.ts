import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@dak/kernel';
import type { Logger } from '@dak/platform/logging';

export interface SupervisedProcessOptions {
  /** For people: `mail 2`. */
  name: string;
  program: string;
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Answers 200 at `/readyz` once it can work; without a slash at the end. */
  probeUrl: string;
  logger: Logger;
  /** A process ended and another one took its place. */
  onRestarted: () => void;
}

const READY_WITHIN_MS = 60_000;
const PROBE_EVERY_MS = 50;
/** Before another start: grows from the first to the second while the process does not live long. */
const BACKOFF_MS = [250, 10_000] as const;
const LONG_LIFE_MS = 30_000;
const KEPT_OUTPUT = 4_000;

/** A service as a child process, restarted whenever it exits without having been asked to. */
export class SupervisedProcess {
  readonly #options: SupervisedProcessOptions;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #said = '';
  #backoffMs: number = BACKOFF_MS[0];
  #isUp = false;
  readonly #stop = new AbortController();

  constructor(options: SupervisedProcessOptions) {
    this.#options = options;
  }

  /** Pid of the running process, or of the last one that ran. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /**
   * Resolves once the process is ready.
   * @throws DomainError with the process's output when it exits earlier
   */
  async start(): Promise<void> {
    this.#spawn();
    await this.#ready();
    this.#isUp = true;
  }

  /** SIGTERM, and SIGKILL when it has not ended after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => {
      this.#options.logger.warn(`${this.#options.name} did not stop in time and is killed`);
      child.kill('SIGKILL');
    }, graceMs);
    await this.#ended;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { program, args, environment } = this.#options;
    const startedAt = performance.now();
    const child = spawn(process.execPath, [...args, program], {
      env: environment,
      // Its channel tells it when this process is gone; a Ctrl-C in the terminal is for this process alone.
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      detached: true,
    });
    this.#child = child;
    this.#said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-KEPT_OUTPUT);
      process.stderr.write(text);
    });
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('close', (code, signal) => {
        resolve();
        if (this.#isUp && !this.#stop.signal.aborted) {
          void this.#restart(performance.now() - startedAt, code, signal);
        }
      });
    });
  }

  async #restart(livedMs: number, code: number | null, signal: string | null): Promise<void> {
    const { name, logger, onRestarted } = this.#options;
    const former = this.pid;
    if (livedMs >= LONG_LIFE_MS) this.#backoffMs = BACKOFF_MS[0];
    const waitMs = this.#backoffMs;
    this.#backoffMs = Math.min(waitMs * 2, BACKOFF_MS[1]);
    logger.warn(
      { pid: former, code, signal, wait_ms: waitMs },
      `${name} ended by itself and is started again`,
    );
    await delay(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    if (this.#stop.signal.aborted) return;
    this.#spawn();
    logger.info({ pid: this.pid, former_pid: former }, `${name} runs again`);
    onRestarted();
  }

  async #ready(): Promise<void> {
    const { name, probeUrl } = this.#options;
    const child = this.#child!;
    const deadline = performance.now() + READY_WITHIN_MS;
    let answer = 'it did not answer';
    while (performance.now() < deadline) {
      if (child.exitCode !== null || child.signalCode !== null) {
        await this.#ended;
        throw new DomainError('unavailable', 'service_ended', `${name}: ${this.#lastSentence()}`);
      }
      const response = await fetch(`${probeUrl}/readyz`).catch(() => null);
      if (response?.ok) return;
      if (response !== null) answer = (await response.text()).trim();
      await delay(PROBE_EVERY_MS);
    }
    throw new DomainError(
      'unavailable',
      'service_not_ready',
      `${name} was not ready within ${READY_WITHIN_MS / 1000} s: ${answer}`,
    );
  }

  #lastSentence(): string {
    const lines = this.#said.trim().split('\n');
    return lines.at(-1)?.replace(/^Dak cannot start: /, '') || 'it ended without a word.';
  }
}
