const SHORTEST_BACK_OFF_MS = 50;
const LONGEST_BACK_OFF_MS = 2_000;

/**
 * Runs `turn` again and again until it is stopped, one at a time. A turn says how many milliseconds the next one
 * may wait; news ends that wait. A turn that fails is followed by a pause of 50 ms, doubled with every further
 * failure up to 2 s; news ends it, but not its first 50 ms.
 */
export class PollingLoop {
  readonly #turn: () => Promise<number>;
  readonly #onError: (error: unknown) => void;
  #isStopping = false;
  #isWoken = false;
  #endSleep: (() => void) | null = null;
  #running: Promise<void> | null = null;

  constructor(turn: () => Promise<number>, onError: (error: unknown) => void) {
    this.#turn = turn;
    this.#onError = onError;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There is news: the next turn begins at once, or right after the one that is running. */
  wake(): void {
    this.#isWoken = true;
    this.#endSleep?.();
  }

  /** Resolves when the turn that is running has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let backOffMs = 0;
    while (!this.#isStopping) {
      this.#isWoken = false;
      try {
        const waitMs = await this.#turn();
        backOffMs = 0;
        await this.#wait(waitMs);
      } catch (error) {
        this.#onError(error);
        backOffMs = Math.min(Math.max(backOffMs * 2, SHORTEST_BACK_OFF_MS), LONGEST_BACK_OFF_MS);
        // What came during the turn is no reason to believe that the next one succeeds.
        this.#isWoken = false;
        if (!this.#isStopping) await this.#sleep(SHORTEST_BACK_OFF_MS, () => this.#isStopping);
        await this.#wait(backOffMs - SHORTEST_BACK_OFF_MS);
      }
    }
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0 && !this.#isWoken && !this.#isStopping) await this.#sleep(ms, () => true);
  }

  async #sleep(ms: number, mayEnd: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endSleep = () => {
        if (!mayEnd()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endSleep = null;
  }
}
