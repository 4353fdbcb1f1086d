import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProgramOptions {
  name: string;
  /** A JavaScript file, as `bundleProgram` makes it. */
  file: string;
  environment: Readonly<Record<string, string>>;
  /** Lines of its standard output. */
  onLine?: (line: string) => void;
}

const RESTART_AFTER_MS = 50;
const STOP_WAIT_MS = 20_000;
const KEPT_ERRORS = 60;

/** A process that is restarted whenever it exits, as an orchestrator would. */
export class SupervisedProcess {
  readonly name: string;
  /** Unexpected exits, with the process's last output. */
  readonly surprises: string[] = [];
  readonly #options: ProgramOptions;
  #child: ChildProcess | null = null;
  #starts = 0;
  #expected = false;
  #stopping = false;
  #errors: string[] = [];
  #life: Promise<void> = Promise.resolve();

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get starts(): number {
    return this.#starts;
  }

  start(): void {
    this.#life = this.#live();
  }

  /** `kill -9`. */
  kill(): void {
    this.#expected = true;
    this.#child?.kill('SIGKILL');
  }

  /** Holds it as a long pause of the machine would, then lets it go on unaware. */
  async freeze(ms: number): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await delay(ms);
    child?.kill('SIGCONT');
  }

  /** SIGTERM, and no restart. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#expected = true;
    this.#child?.kill('SIGCONT');
    this.#child?.kill('SIGTERM');
    const overdue = setTimeout(() => {
      this.surprises.push(`${this.name} did not stop within ${STOP_WAIT_MS / 1_000} s`);
      this.#child?.kill('SIGKILL');
    }, STOP_WAIT_MS);
    await this.#life;
    clearTimeout(overdue);
  }

  async #live(): Promise<void> {
    while (!this.#stopping) {
      const { file, environment, onLine } = this.#options;
      const child = spawn(process.execPath, [file], {
        env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#child = child;
      this.#starts += 1;
      this.#expected = false;
      createInterface({ input: child.stdout }).on('line', (line) => onLine?.(line));
      createInterface({ input: child.stderr }).on('line', (line) => {
        this.#errors = [...this.#errors, line].slice(-KEPT_ERRORS);
      });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      if (!this.#expected) {
        this.surprises.push(
          `${this.name} ended with ${code ?? signal}: ${this.#errors.join('\n')}`,
        );
      }
      if (!this.#stopping) await delay(RESTART_AFTER_MS);
    }
  }
}
