import { isHopeless, withFailure, type FailureStreak } from './auto-disable';
import { Breaker, type BreakerState } from './breaker';
import type { Verdict } from './classify-outcome';

/** An endpoint's health as its row stores it. Times in milliseconds since the epoch. */
export interface Health {
  readonly breaker: BreakerState;
  readonly streak: FailureStreak | null;
  readonly lastSuccessAt: number | null;
}

/** A success is stored at once after failures, otherwise this often. */
const SUCCESS_STORED_EVERY_MS = 10_000;

/** Follows the health of an endpoint from attempt to attempt, and whether it is stored. */
export class HealthTracker {
  #breaker: Breaker;
  #streak: FailureStreak | null;
  #lastSuccessAt: number | null;
  #successStoredAt: number;
  #isUnsaved = false;

  constructor({ breaker, streak, lastSuccessAt }: Health) {
    this.#breaker = new Breaker(breaker);
    this.#streak = streak;
    this.#lastSuccessAt = lastSuccessAt;
    this.#successStoredAt = lastSuccessAt ?? 0;
  }

  get state(): Health {
    return {
      breaker: this.#breaker.state,
      streak: this.#streak,
      lastSuccessAt: this.#lastSuccessAt,
    };
  }

  get isUnsaved(): boolean {
    return this.#isUnsaved;
  }

  /** See {@link Breaker.admit}. */
  admit(now: number): 'send' | 'probe' | 'wait' {
    return this.#breaker.admit(now);
  }

  /** Replaces failures and breaker by those of the row. */
  reset({ breaker, streak }: Health): void {
    this.#breaker = new Breaker(breaker);
    this.#streak = streak;
    this.#isUnsaved = false;
  }

  /** Ignores time without success before `at`: the endpoint could not succeed then. */
  excuseUntil(at: number): void {
    if (this.#streak === null) return;
    this.#streak = { ...this.#streak, firstAt: Math.max(this.#streak.firstAt, at) };
  }

  /** Takes in the result of an attempt. */
  record(verdict: Verdict, eventId: string, isProbe: boolean, now: number): void {
    if (verdict.kind === 'withdrawn') {
      if (isProbe) this.#breaker.withdrawProbe();
      return;
    }
    const before = this.state;
    const isDelivered = verdict.kind === 'delivered';
    this.#breaker.record({ ...verdict, isProbe }, now);
    this.#streak = isDelivered ? null : withFailure(this.#streak, eventId, now);
    if (isDelivered) this.#lastSuccessAt = now;
    const isSuccessDue = isDelivered && now - this.#successStoredAt > SUCCESS_STORED_EVERY_MS;
    if (isSuccessDue || this.#breaker.state !== before.breaker || this.#streak !== before.streak) {
      this.#isUnsaved = true;
      if (isDelivered) this.#successStoredAt = now;
    }
  }

  isHopeless(now: number): boolean {
    return isHopeless(this.#streak, now);
  }

  /** The state for the caller to store; null when it is stored already. */
  takeUnsaved(): Health | null {
    if (!this.#isUnsaved) return null;
    this.#isUnsaved = false;
    return this.state;
  }

  /** What {@link takeUnsaved} gave could not be stored. */
  keepUnsaved(): void {
    this.#isUnsaved = true;
  }
}
