import pg from 'pg';
import { UnavailableError } from '@dak/kernel';

/** What has waited for so long makes us ask whether the server is there at all. */
const SUSPECT_AFTER_MS = 2_000;
/** A server that does not answer a new connection within this is away. Together far below ten seconds. */
const PROBE_WITHIN_MS = 4_500;
const LOOK_EVERY_MS = 500;
/** A timer later than this indicates a busy process, not a silent server. */
const LATE_MS = 500;

interface Pending {
  readonly since: number;
  readonly fail: (error: UnavailableError) => void;
}

/**
 * Tells a slow statement from a server that is gone: frozen, or cut off without a word, so that no error
 * ever comes. A statement may take long as long as the server answers any request; when it does not,
 * all waiting statements fail at once, and new ones fail without waiting.
 */
export class ServerWatch {
  readonly #url: string;
  /** In the order in which they began. */
  readonly #pending = new Set<Pending>();
  readonly #timer: NodeJS.Timeout;
  #heardAt = 0;
  #isProbing = false;
  #isAway = false;

  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** @throws UnavailableError while the server is known to be away */
  requireHere(): void {
    if (this.#isAway) throw away();
  }

  /** As `work`, but rejects with {@link UnavailableError} when the server turns out to be away meanwhile. */
  guard<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { since: performance.now(), fail: reject };
      this.#pending.add(pending);
      work.then(
        (value) => {
          this.#pending.delete(pending);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(pending);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it came
          reject(error);
        },
      );
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#isProbing) return;
    const [oldest] = this.#pending;
    const suspectedAt = performance.now() - SUSPECT_AFTER_MS;
    const isSuspect =
      oldest !== undefined && oldest.since < suspectedAt && this.#heardAt < suspectedAt;
    if (!isSuspect && !this.#isAway) return;
    this.#isProbing = true;
    void this.#probe().finally(() => {
      this.#isProbing = false;
    });
  }

  async #probe(): Promise<void> {
    const answer = await answers(this.#url);
    if (answer === 'late') return;
    this.#isAway = answer === 'none';
    if (!this.#isAway) {
      this.#heardAt = performance.now();
      return;
    }
    const waiting = [...this.#pending];
    this.#pending.clear();
    for (const { fail } of waiting) fail(away());
  }
}

/** Whether a new connection gets any answer, be it a refusal in words. */
async function answers(url: string): Promise<'some' | 'none' | 'late'> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'dak watch',
    connectionTimeoutMillis: PROBE_WITHIN_MS,
    query_timeout: PROBE_WITHIN_MS,
  });
  client.on('error', () => undefined);
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<'none'>((resolve) => {
    timer = setTimeout(() => resolve('none'), PROBE_WITHIN_MS);
  });
  const asked = client
    .connect()
    .then(() => client.query('select 1'))
    .then(
      () => 'some' as const,
      // SQLSTATE: the server has spoken.
      (error: unknown) => (isSqlState(error) ? ('some' as const) : ('none' as const)),
    );
  const answer = await Promise.race([asked, patience]);
  clearTimeout(timer);
  client.end().catch(() => undefined);
  if (answer === 'some') return answer;
  return performance.now() - begun > PROBE_WITHIN_MS + LATE_MS ? 'late' : 'none';
}

function isSqlState(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

function away(): UnavailableError {
  return new UnavailableError('The database does not answer. Try again in a moment.', 2);
}
