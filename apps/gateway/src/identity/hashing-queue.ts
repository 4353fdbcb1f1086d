import { UnavailableError } from '@dak/kernel';

/** Runs a few jobs at once and lets a few more wait; further ones are refused immediately. */
export class HashingQueue {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly limits: { atOnce: number; waiting: number }) {}

  /** @throws UnavailableError when too many wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.atOnce) this.running += 1;
    else await this.wait();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Its slot passes directly to the next one, so that no later job overtakes.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }

  private wait(): Promise<void> {
    if (this.waiting.length >= this.limits.waiting) {
      throw new UnavailableError(
        'Too many passwords are being checked at the moment. Try again in a few seconds.',
        2,
      );
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
