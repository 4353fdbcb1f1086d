export interface PaceLimits {
  /** Attempts per second in the long run. */
  readonly ratePerSecond: number;
  /** Attempts under way at once. */
  readonly maxConcurrency: number;
}

const LEAST_CONCURRENCY = 1;
const LEAST_RATE = 0.1;
/** After a hold much may wait, for many endpoints at once. */
const GENTLE_RATE = 20;
const GENTLE_CONCURRENCY = 2;
/** Seconds within which successes bring a rate back from zero. */
const RECOVERY_SECONDS = 60;

/**
 * Limits how fast an endpoint is sent to, by a token bucket that holds one second's worth and by a number of
 * concurrent attempts. Overload halves both, once per round of attempts; each success raises both by a small
 * step (additive increase, multiplicative decrease, as in TCP, RFC 5681).
 */
export class Pace {
  #limits: PaceLimits;
  #concurrency: number;
  #rate: number;
  #tokens: number;
  #filledAt: number;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #raisedAt: number;
  #underWay = 0;

  /** @param now milliseconds, as in all methods */
  constructor(limits: PaceLimits, now: number) {
    this.#limits = limits;
    this.#concurrency = limits.maxConcurrency;
    this.#rate = limits.ratePerSecond;
    this.#tokens = this.#capacity();
    this.#filledAt = now;
    this.#raisedAt = now;
  }

  get inFlight(): number {
    return this.#underWay;
  }

  /** Attempts allowed at once now. */
  get currentConcurrency(): number {
    return Math.max(LEAST_CONCURRENCY, Math.floor(this.#concurrency));
  }

  /** Attempts allowed per second now. */
  get currentRate(): number {
    return this.#rate;
  }

  /** Applies new limits at once; slowdowns learned so far stay. */
  setLimits(limits: PaceLimits): void {
    const wasFull = this.#rate >= this.#limits.ratePerSecond;
    const wasWide = this.#concurrency >= this.#limits.maxConcurrency;
    this.#limits = limits;
    this.#rate = wasFull ? limits.ratePerSecond : Math.min(this.#rate, limits.ratePerSecond);
    this.#concurrency = wasWide
      ? limits.maxConcurrency
      : Math.min(this.#concurrency, limits.maxConcurrency);
    this.#tokens = Math.min(this.#tokens, this.#capacity());
  }

  /** Starts slowly after a hold; successes bring rate and concurrency back. */
  beginGently(now: number): void {
    this.#rate = Math.min(this.#rate, GENTLE_RATE);
    this.#concurrency = Math.min(this.#concurrency, GENTLE_CONCURRENCY);
    this.#tokens = Math.min(this.#tokens, this.#capacity());
    this.#raisedAt = now;
  }

  /** How many attempts may begin now. */
  room(now: number): number {
    this.#fill(now);
    return Math.max(
      0,
      Math.min(this.currentConcurrency - this.#underWay, Math.floor(this.#tokens)),
    );
  }

  /** Milliseconds until the bucket has a token; 0 when it has one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#rate) * 1000);
  }

  /** An attempt begins. Nothing stops the caller from exceeding {@link room}, as a probe does. */
  begin(now: number): void {
    this.#fill(now);
    // A caller that exceeds the room delays the others by two tokens at most.
    this.#tokens = Math.max(-1, this.#tokens - 1);
    this.#underWay += 1;
  }

  /** @param begunAt as given to {@link begin} */
  end(outcome: 'ok' | 'slow_down' | 'other', begunAt: number, now: number): void {
    this.#underWay -= 1;
    if (outcome === 'slow_down') this.#slow(begunAt, now);
    else if (outcome === 'ok') this.#raise(now);
  }

  /** Attempts begun before the latest halving do not show its effect. */
  #slow(begunAt: number, now: number): void {
    if (begunAt < this.#slowedAt) return;
    this.#fill(now);
    this.#slowedAt = now;
    this.#raisedAt = now;
    this.#concurrency = Math.max(LEAST_CONCURRENCY, Math.floor(this.#concurrency) / 2);
    this.#rate = Math.max(Math.min(LEAST_RATE, this.#limits.ratePerSecond), this.#rate / 2);
    this.#tokens = Math.min(this.#tokens, this.#capacity());
  }

  #raise(now: number): void {
    this.#fill(now);
    this.#concurrency = Math.min(
      this.#limits.maxConcurrency,
      this.#concurrency + 1 / Math.max(1, this.#concurrency),
    );
    // An idle period proves nothing, so at most one second counts.
    const seconds = Math.min(1, Math.max(0, now - this.#raisedAt) / 1000);
    this.#raisedAt = now;
    this.#rate = Math.min(
      this.#limits.ratePerSecond,
      this.#rate + (this.#limits.ratePerSecond / RECOVERY_SECONDS) * seconds,
    );
  }

  #fill(now: number): void {
    const seconds = Math.max(0, now - this.#filledAt) / 1000;
    this.#filledAt = Math.max(this.#filledAt, now);
    this.#tokens = Math.min(this.#capacity(), this.#tokens + seconds * this.#rate);
  }

  /** One second's worth, and at least one whole token. */
  #capacity(): number {
    return Math.max(1, this.#rate);
  }
}
