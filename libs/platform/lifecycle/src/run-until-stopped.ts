import { DomainError } from '@dak/kernel';

/** From the first signal to the end of the process, at most. */
const STOP_WITHIN_MS = 30_000;
/** Ctrl-C in a terminal reaches an app that npm started twice: itself, and passed on by npm. */
const SAME_SIGNAL_MS = 1_000;
/** `EX_TEMPFAIL` of sysexits(3): nothing is wrong with this start but that another Dak has the folder. */
const IN_USE = 75;
const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Running {
  /** Stops accepting work, finishes running work, and releases claims. */
  stop(): Promise<void>;
  /** Resolves when something without which the app cannot go on has ended, with the reason. */
  failed?: Promise<Error>;
}

/**
 * The life of an app: start, wait for SIGTERM or SIGINT, stop gracefully within 30 s. Another signal,
 * more than a second after the first, ends at once. A start that fails, or the end of what the app
 * cannot do without, prints one sentence and ends with code 1, so that whoever watches the process
 * starts it again; with code 75 when another Dak works in the data folder.
 */
export async function runUntilStopped(start: () => Promise<Running>): Promise<void> {
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`Dak cannot start: ${sentenceOf(error)}\n`);
    if (!(error instanceof DomainError) && process.env['DAK_LOG_LEVEL'] === 'debug') {
      process.stderr.write(`${(error as Error).stack}\n`);
    }
    process.exit(isInUse(error) ? IN_USE : 1);
  }
  const signals = listenForSignals();
  const cause = await Promise.race([signals.first, ...(running.failed ? [running.failed] : [])]);
  signals.stoppingSince = performance.now();
  if (cause instanceof Error) {
    process.exitCode = 1;
    process.stderr.write(`Dak cannot go on: ${sentenceOf(cause)}\n`);
  }
  const overdue = setTimeout(() => {
    process.stderr.write(
      `Dak did not stop within ${STOP_WITHIN_MS / 1000} s of ${cause instanceof Error ? 'that' : cause}.\n`,
    );
    process.exit(1);
  }, STOP_WITHIN_MS);
  try {
    await running.stop();
    clearTimeout(overdue);
    process.exit();
  } catch (error) {
    process.stderr.write(`Dak did not stop cleanly: ${sentenceOf(error)}\n`);
    process.exit(1);
  }
}

interface Signals {
  /** Resolves at the first one. */
  readonly first: Promise<string>;
  /** From then on one that is not the same ends the process; by `performance.now()`. */
  stoppingSince: number;
}

/** A process that another one started with a channel to it also stops when that one is gone. */
function listenForSignals(): Signals {
  const { promise, resolve } = Promise.withResolvers<string>();
  const signals: Signals = { first: promise, stoppingSince: Number.POSITIVE_INFINITY };
  // They stay: between two listeners a signal would end the process.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (performance.now() - signals.stoppingSince > SAME_SIGNAL_MS) process.exit(CODES[name]);
      resolve(name);
    });
  }
  process.once('disconnect', () => resolve('the end of the process that started it'));
  return signals;
}

function isInUse(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'data_folder_in_use';
}

function sentenceOf(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') {
    return `port ${port ?? ''} is taken. Stop the other program, or choose another port with DAK_HTTP_PORT, DAK_SMTP_PORT or DAK_LMTP_PORT (0 = any free port).`;
  }
  if (code === 'EACCES') return `${message}. Choose a port above 1023 or another folder.`;
  return message || String(error);
}
