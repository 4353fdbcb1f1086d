/** What is kept of a breaker, so that another worker goes on with it. Times in milliseconds since the epoch. */
export interface BreakerState {
  readonly state: 'closed' | 'open' | 'half_open';
  readonly openedAt: number | null;
  readonly nextProbeAt: number | null;
  /** How often in a row it has opened. */
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
 * Spares an endpoint that is down. Opens when at least 10 attempts within 60 s have 70 % failures, or when
 * 5 in a row find no connection; then nothing is sent but one probe, after 30 s, doubling up to 10 min.
 * A probe that succeeds closes it. Deliveries that wait for it lose no attempt.
 */
export class Breaker {
  private kept: BreakerState;
  private connectFailures = 0;
  private isProbing = false;
  private readonly slots = Array.from({ length: SLOTS }, () => ({
    at: -1,
    attempts: 0,
    failures: 0,
  }));

  constructor(kept: BreakerState = CLOSED) {
    // The probe of the worker before this one is lost with it: there is to be another at once.
    this.kept = kept.state === 'half_open' ? { ...kept, state: 'open' } : kept;
  }

  /** Changes identity with every change, so that what has to be stored is seen by comparing. */
  get state(): BreakerState {
    return this.kept;
  }

  /**
   * Whether an attempt may be made now. `probe` is said once and stands until its result is recorded or
   * {@link withdrawProbe}; while it does, everything else waits.
   */
  admit(now: number): 'send' | 'probe' | 'wait' {
    if (this.kept.state === 'closed') return 'send';
    if (this.isProbing || now < (this.kept.nextProbeAt ?? 0)) return 'wait';
    this.isProbing = true;
    this.kept = { ...this.kept, state: 'half_open' };
    return 'probe';
  }

  /** A probe that was not sent after all. */
  withdrawProbe(): void {
    if (!this.isProbing) return;
    this.isProbing = false;
    this.kept = { ...this.kept, state: 'open' };
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
    if (result.isProbe && this.isProbing) {
      this.isProbing = false;
      if (result.isFailure) this.open(now);
      else this.close();
      return;
    }
    if (this.kept.state !== 'closed') return;
    this.connectFailures = result.isConnectFailure ? this.connectFailures + 1 : 0;
    const slot = this.slotOf(now);
    slot.attempts += 1;
    if (result.isFailure) slot.failures += 1;
    if (this.isDown(now)) this.open(now);
  }

  private isDown(now: number): boolean {
    if (this.connectFailures >= CONNECT_FAILURES_IN_A_ROW) return true;
    let attempts = 0;
    let failures = 0;
    for (const slot of this.slots) {
      if (slot.at <= now - WINDOW_MS) continue;
      attempts += slot.attempts;
      failures += slot.failures;
    }
    return attempts >= LEAST_ATTEMPTS && failures >= attempts * FAILURE_SHARE;
  }

  private slotOf(now: number): { at: number; attempts: number; failures: number } {
    const at = Math.floor(now / SLOT_MS) * SLOT_MS;
    const slot = this.slots[(at / SLOT_MS) % SLOTS]!;
    if (slot.at !== at) Object.assign(slot, { at, attempts: 0, failures: 0 });
    return slot;
  }

  private open(now: number): void {
    const trips = this.kept.trips + 1;
    this.forget();
    this.kept = { state: 'open', openedAt: now, nextProbeAt: now + openForMs(trips), trips };
  }

  private close(): void {
    this.forget();
    this.kept = CLOSED;
  }

  private forget(): void {
    this.connectFailures = 0;
    for (const slot of this.slots) Object.assign(slot, { at: -1, attempts: 0, failures: 0 });
  }
}
