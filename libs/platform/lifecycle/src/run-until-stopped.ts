import { DomainError } from '@dak/kernel';

/** From the first signal to the end of the process, at most. */
const STOP_WITHIN_MS = 30_000;
/** Ctrl-C in a terminal reaches an app that npm started twice: itself, and passed on by npm. */
const SAME_SIGNAL_MS = 1_000;
const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Running {
  /** Stops taking work, finishes what runs, releases what is held. */
  stop(): Promise<void>;
  /** Resolves when something without which the app cannot go on has ended, with the reason. */
  failed?: Promise<Error>;
}

/**
 * The life of an app: start, wait for SIGTERM or SIGINT, stop gracefully within 30 s. Another signal,
 * more than a second after the first, ends at once. A start that fails, or the end of what the app
 * cannot do without, prints one sentence and ends with code 1, so that whoever watches the process
 * starts it again.
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
    process.exit(1);
  }
  const cause = await Promise.race([nextSignal(), ...(running.failed ? [running.failed] : [])]);
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

/**
 * Resolves at the first signal; one that comes later than that ends the process. A process that another
 * one started with a channel to it also stops when that one is gone.
 */
function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const heard = (name: keyof typeof CODES): void => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(CODES[name]);
      resolve(name);
    };
    // They stay: between two listeners a signal would end the process.
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, heard);
    process.once('disconnect', () => resolve('the end of the process that started it'));
  });
}

function sentenceOf(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') {
    return `port ${port ?? ''} is taken. Stop the other program, or choose another port with DAK_HTTP_PORT, DAK_SMTP_PORT or DAK_LMTP_PORT (0 = any free port).`;
  }
  if (code === 'EACCES') return `${message}. Choose a port above 1023 or another folder.`;
  return message || String(error);
}
