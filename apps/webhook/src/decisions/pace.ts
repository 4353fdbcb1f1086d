export interface PaceLimits {
  /** Attempts per second in the long run. */
  readonly ratePerSecond: number;
  /** Attempts under way at once. */
  readonly maxConcurrency: number;
}

const LEAST_CONCURRENCY = 1;
const LEAST_RATE = 0.1;
/** After a hold: much may wait, of many endpoints at once. */
const GENTLE_RATE = 20;
const GENTLE_CONCURRENCY = 2;
/** Good answers bring a rate back from nothing within so many seconds. */
const RECOVERY_SECONDS = 60;

/**
 * How fast an endpoint is sent to: a token bucket of one second's worth, and so many attempts at once.
 * Both are halved when it is overloaded, once per round of attempts, and grow back by small steps with
 * every success (additive increase, multiplicative decrease, as TCP does it in RFC 5681).
 */
export class Pace {
  private concurrency: number;
  private rate: number;
  private tokens: number;
  private filledAt: number;
  private slowedAt = Number.NEGATIVE_INFINITY;
  private raisedAt: number;
  private underWay = 0;

  /** @param now milliseconds, as in all methods */
  constructor(
    private limits: PaceLimits,
    now: number,
  ) {
    this.concurrency = limits.maxConcurrency;
    this.rate = limits.ratePerSecond;
    this.tokens = this.capacity();
    this.filledAt = now;
    this.raisedAt = now;
  }

  get inFlight(): number {
    return this.underWay;
  }

  /** Attempts allowed at once as things are. */
  get currentConcurrency(): number {
    return Math.max(LEAST_CONCURRENCY, Math.floor(this.concurrency));
  }

  /** Attempts per second as things are. */
  get currentRate(): number {
    return this.rate;
  }

  /** New limits hold at once; what was learned about the endpoint stays. */
  setLimits(limits: PaceLimits): void {
    const wasFull = this.rate >= this.limits.ratePerSecond;
    const wasWide = this.concurrency >= this.limits.maxConcurrency;
    this.limits = limits;
    this.rate = wasFull ? limits.ratePerSecond : Math.min(this.rate, limits.ratePerSecond);
    this.concurrency = wasWide
      ? limits.maxConcurrency
      : Math.min(this.concurrency, limits.maxConcurrency);
    this.tokens = Math.min(this.tokens, this.capacity());
  }

  /** Much has waited: good answers bring the rate and the concurrency back. */
  beginGently(now: number): void {
    this.rate = Math.min(this.rate, GENTLE_RATE);
    this.concurrency = Math.min(this.concurrency, GENTLE_CONCURRENCY);
    this.tokens = Math.min(this.tokens, this.capacity());
    this.raisedAt = now;
  }

  /** How many attempts may begin now. */
  room(now: number): number {
    this.fill(now);
    return Math.max(0, Math.min(this.currentConcurrency - this.underWay, Math.floor(this.tokens)));
  }

  /** Milliseconds until the bucket has a token; 0 when it has one. */
  waitMs(now: number): number {
    this.fill(now);
    return this.tokens >= 1 ? 0 : Math.ceil(((1 - this.tokens) / this.rate) * 1000);
  }

  /** An attempt begins. Nothing stops the caller from exceeding {@link room}, as a probe does. */
  begin(now: number): void {
    this.fill(now);
    // Whoever exceeds the room does not stop the others for longer than the two tokens take.
    this.tokens = Math.max(-1, this.tokens - 1);
    this.underWay += 1;
  }

  /** @param begunAt as given to {@link begin} */
  end(outcome: 'ok' | 'slow_down' | 'other', begunAt: number, now: number): void {
    this.underWay -= 1;
    if (outcome === 'slow_down') this.slow(begunAt, now);
    else if (outcome === 'ok') this.raise(now);
  }

  /** Attempts begun before the latest halving tell nothing about what it did. */
  private slow(begunAt: number, now: number): void {
    if (begunAt < this.slowedAt) return;
    this.fill(now);
    this.slowedAt = now;
    this.raisedAt = now;
    this.concurrency = Math.max(LEAST_CONCURRENCY, Math.floor(this.concurrency) / 2);
    this.rate = Math.max(Math.min(LEAST_RATE, this.limits.ratePerSecond), this.rate / 2);
    this.tokens = Math.min(this.tokens, this.capacity());
  }

  private raise(now: number): void {
    this.fill(now);
    this.concurrency = Math.min(
      this.limits.maxConcurrency,
      this.concurrency + 1 / Math.max(1, this.concurrency),
    );
    // A pause in which nothing was sent is no evidence: at most a second counts.
    const seconds = Math.min(1, Math.max(0, now - this.raisedAt) / 1000);
    this.raisedAt = now;
    this.rate = Math.min(
      this.limits.ratePerSecond,
      this.rate + (this.limits.ratePerSecond / RECOVERY_SECONDS) * seconds,
    );
  }

  private fill(now: number): void {
    const seconds = Math.max(0, now - this.filledAt) / 1000;
    this.filledAt = Math.max(this.filledAt, now);
    this.tokens = Math.min(this.capacity(), this.tokens + seconds * this.rate);
  }

  /** One second's worth, and at least one whole token. */
  private capacity(): number {
    return Math.max(1, this.rate);
  }
}
