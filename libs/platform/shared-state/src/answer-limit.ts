interface Waiting {
  /** Of `performance.now()`. */
  readonly until: number;
  readonly fail: (error: NoAnswerError) => void;
}

export class NoAnswerError extends Error {
  override readonly message = 'no answer in time';
}

/**
 * Fails answers that take too long, with one timer for all of them: a timer and a race for each cost
 * more than the command that they guard.
 */
export class AnswerLimit {
  /** In the order in which their time ends. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly timeoutMs: number) {}

  /** As `answer`, or @throws NoAnswerError when it is not there in time */
  put<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { until: performance.now() + this.timeoutMs, fail: reject };
      this.#waiting.add(waiting);
      this.#timer ??= setTimeout(() => this.#look(), this.timeoutMs).unref();
      answer.then(
        (value) => {
          this.#waiting.delete(waiting);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiting.delete(waiting);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it came
          reject(error);
        },
      );
    });
  }

  /** What still waits is left to its connection, which is about to end. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    this.#timer = null;
    const now = performance.now();
    for (const waiting of this.#waiting) {
      if (waiting.until > now) {
        this.#timer = setTimeout(() => this.#look(), waiting.until - now).unref();
        return;
      }
      this.#waiting.delete(waiting);
      waiting.fail(new NoAnswerError());
    }
  }
}
