/** The stored state, with which another worker continues. Times in milliseconds since the epoch. */
export interface BreakerState {
  readonly state: 'closed' | 'open' | 'half_open';
  readonly openedAt: number | null;
  readonly nextProbeAt: number | null;
  /** How many times in a row the breaker has opened. */
  readonly trips: number;
}

export const CLOSED: BreakerState = {
  state: 'closed',
  openedAt: null,
  nextProbeAt: null,
  trips: 0,
};

const WINDOW_MS = 60_000;
const SLOTS = 12;
const SLOT_MS = WINDOW_MS / SLOTS;
const LEAST_ATTEMPTS = 10;
const FAILURE_SHARE = 0.7;
const CONNECT_FAILURES_IN_A_ROW = 5;
const FIRST_OPEN_MS = 30_000;
const LONGEST_OPEN_MS = 600_000;

/** How long the breaker stays open when it opens for the `trips`-th time in a row. */
export function openForMs(trips: number): number {
  return Math.min(FIRST_OPEN_MS * 2 ** Math.max(0, trips - 1), LONGEST_OPEN_MS);
}

/**
 * Spares an endpoint that is down. It opens when 70 % of at least 10 attempts within 60 s fail, or when 5 in
 * a row cannot connect. Then only a probe is sent, after 30 s at first and up to 10 min after later failures;
 * a probe that succeeds closes it. Deliveries that wait meanwhile lose no attempt.
 */
export class Breaker {
  #state: BreakerState;
  #connectFailures = 0;
  #isProbing = false;
  readonly #slots = Array.from({ length: SLOTS }, () => ({
    at: -1,
    attempts: 0,
    failures: 0,
  }));

  constructor(stored: BreakerState = CLOSED) {
    // The probe of a former worker is lost with it; another one is made at once.
    this.#state = stored.state === 'half_open' ? { ...stored, state: 'open' } : stored;
  }

  /** A new object after every change: comparing it shows whether it must be stored. */
  get state(): BreakerState {
    return this.#state;
  }

  /**
   * Whether an attempt may be made now. `probe` is answered once; until its result is recorded, or
   * {@link withdrawProbe} is called, everything else waits.
   */
  admit(now: number): 'send' | 'probe' | 'wait' {
    if (this.#state.state === 'closed') return 'send';
    if (this.#isProbing || now < (this.#state.nextProbeAt ?? 0)) return 'wait';
    this.#isProbing = true;
    this.#state = { ...this.#state, state: 'half_open' };
    return 'probe';
  }

  /** The probe was not sent after all. */
  withdrawProbe(): void {
    if (!this.#isProbing) return;
    this.#isProbing = false;
    this.#state = { ...this.#state, state: 'open' };
  }

  /** Results of attempts begun before the breaker opened change nothing while it is open. */
  record(
    result: {
      readonly isFailure: boolean;
      readonly isConnectFailure: boolean;
      readonly isProbe: boolean;
    },
    now: number,
  ): void {
    if (result.isProbe && this.#isProbing) {
      this.#isProbing = false;
      if (result.isFailure) this.#open(now);
      else this.#close();
      return;
    }
    if (this.#state.state !== 'closed') return;
    this.#connectFailures = result.isConnectFailure ? this.#connectFailures + 1 : 0;
    const slot = this.#slotOf(now);
    slot.attempts += 1;
    if (result.isFailure) slot.failures += 1;
    if (this.#isDown(now)) this.#open(now);
  }

  #isDown(now: number): boolean {
    if (this.#connectFailures >= CONNECT_FAILURES_IN_A_ROW) return true;
    let attempts = 0;
    let failures = 0;
    for (const slot of this.#slots) {
      if (slot.at <= now - WINDOW_MS) continue;
      attempts += slot.attempts;
      failures += slot.failures;
    }
    return attempts >= LEAST_ATTEMPTS && failures >= attempts * FAILURE_SHARE;
  }

  #slotOf(now: number): { at: number; attempts: number; failures: number } {
    const at = Math.floor(now / SLOT_MS) * SLOT_MS;
    const slot = this.#slots[(at / SLOT_MS) % SLOTS]!;
    if (slot.at !== at) Object.assign(slot, { at, attempts: 0, failures: 0 });
    return slot;
  }

  #open(now: number): void {
    const trips = this.#state.trips + 1;
    this.#reset();
    this.#state = { state: 'open', openedAt: now, nextProbeAt: now + openForMs(trips), trips };
  }

  #close(): void {
    this.#reset();
    this.#state = CLOSED;
  }

  #reset(): void {
    this.#connectFailures = 0;
    for (const slot of this.#slots) Object.assign(slot, { at: -1, attempts: 0, failures: 0 });
  }
}
