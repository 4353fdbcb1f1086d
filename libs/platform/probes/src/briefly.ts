/** Shares one result among callers at the same time or shortly after. */
export class Briefly<T> {
  private answer: { value: Promise<T>; until: number } | null = null;

  /** @param keepMs how long a result is valid, depending on it; milliseconds */
  constructor(
    private readonly ask: () => Promise<T>,
    private readonly keepMs: (value: T) => number,
  ) {}

  get(): Promise<T> {
    if (this.answer !== null && performance.now() < this.answer.until) return this.answer.value;
    const value = this.ask();
    const answer = { value, until: Infinity };
    this.answer = answer;
    value.then(
      (result) => (answer.until = performance.now() + this.keepMs(result)),
      () => (answer.until = 0),
    );
    return value;
  }
}
