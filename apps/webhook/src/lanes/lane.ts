import type { BreakerState } from '../decisions/breaker';
import type { Verdict } from '../decisions/classify-outcome';
import { HealthTracker, type Health } from '../decisions/health-tracker';
import { Pace } from '../decisions/pace';
import type { Settlement } from '../decisions/settle-attempt';
import type { FreshDelivery } from '../fan-out/fan-out';
import { dueFromFanOut, type DueDelivery } from './due-delivery';
import type { LaneConfig } from './lane-config';
import type { LaneClaim } from './lane-store';

/** Deliveries in memory at most, so that no endpoint takes all of it. */
const MAX_IN_HAND = 512;
/** Recorded results make room one by one; the table is read again when there is this much. */
const MIN_ROOM = MAX_IN_HAND / 4;
const SHORTEST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;
/** For so long after a hold endpoints are sent to gently. */
const GENTLE_FOR_MS = 60_000;

/** The next action of the sender for a lane. */
export type LaneTurn =
  | { readonly delivery: DueDelivery; readonly isProbe: boolean }
  /** Milliseconds until the lane can send; null = until one of its attempts ends or something is queued. */
  | { readonly delivery: null; readonly waitMs: number | null };

const NOTHING: LaneTurn = { delivery: null, waitMs: null };

/**
 * The state of an endpoint whose only sender is this process: settings, health, pace, and the deliveries in hand, which
 * are queued, held back, under way, or not recorded yet. Times are milliseconds since the epoch.
 */
export class Lane {
  readonly endpointId: string;
  readonly epoch: number;
  readonly #pace: Pace;
  readonly #health: HealthTracker;
  #config: LaneConfig;
  #isConfigStale = false;
  /** While the endpoint is being disabled nothing goes out, whatever its row still says. */
  #isEnding = false;
  /** The table has more than is in hand. */
  #hasMore = true;
  #pollAt = 0;
  #pollMs = SHORTEST_POLL_MS;
  /** Null while there is something to do. */
  #idleSince: number | null = null;
  #queue: DueDelivery[] = [];
  /** Ids, each with its order key. */
  readonly #inHand = new Map<string, string | null>();

  constructor(claim: LaneClaim, config: LaneConfig, health: Health, now: number) {
    this.endpointId = claim.endpointId;
    this.epoch = claim.epoch;
    this.#config = config;
    this.#pace = new Pace(config.limits, now);
    this.#health = new HealthTracker(health);
    if (now - config.releasedAt < GENTLE_FOR_MS) this.#pace.beginGently(now);
  }

  get config(): LaneConfig {
    return this.#config;
  }

  get isConfigStale(): boolean {
    return this.#isConfigStale;
  }

  get breakerState(): BreakerState['state'] {
    return this.#health.state.breaker.state;
  }

  get maySend(): boolean {
    return this.#config.isSendable && !this.#isConfigStale && !this.#isEnding;
  }

  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  get room(): number {
    return MAX_IN_HAND - this.#inHand.size;
  }

  get idsInHand(): string[] {
    return [...this.#inHand.keys()];
  }

  /** Conversations with an event in hand, as the store names them. */
  get busyKeys(): string[] {
    return [...this.#inHand.values()].flatMap((key) =>
      key === null ? [] : [`${this.endpointId}/${key}`],
    );
  }

  /** Whether nothing has been in hand or due for longer than `ms`. */
  isIdleFor(ms: number, now: number): boolean {
    return this.#idleSince !== null && this.#inHand.size === 0 && now - this.#idleSince > ms;
  }

  /** Whether the table should be read now. */
  wantsMore(now: number): boolean {
    if (!this.maySend) return false;
    if (this.#hasMore) return this.#queue.length <= MAX_IN_HAND / 2 && this.room >= MIN_ROOM;
    return now >= this.#pollAt && this.room > 0;
  }

  /** Milliseconds until the table should be read; infinite while that depends on other things than time. */
  msUntilPoll(now: number): number {
    if (this.wantsMore(now)) return 0;
    return this.maySend && this.room > 0 ? this.#pollAt - now : Number.POSITIVE_INFINITY;
  }

  /** The endpoint was changed, or deliveries for it have become due. */
  refresh(): void {
    this.#isConfigStale = true;
    this.#hasMore = true;
  }

  /**
   * Takes over the row of the endpoint. Its health counts only after a change by a user: enabling the endpoint, or
   * giving it another URL, gives it a clean record.
   */
  adopt(config: LaneConfig, health: Health, now: number): void {
    const former = this.#config;
    const isChanged = config.stamp !== former.stamp;
    if (config.url !== former.url || (isChanged && !this.#health.isUnsaved)) {
      this.#health.reset(health);
    }
    this.#config = config;
    this.#isConfigStale = false;
    this.#pace.setLimits(config.limits);
    if (config.releasedAt > former.releasedAt) {
      this.#pace.beginGently(now);
      this.#health.excuseUntil(config.releasedAt);
    }
    // Queued deliveries were checked against the former settings.
    if (isChanged || !config.isSendable) this.#putBack();
  }

  /** @returns whether fresh deliveries are queued now; otherwise they are to be read from the table */
  queueFresh(deliveries: readonly FreshDelivery[], now: number): boolean {
    if (deliveries.some(({ stamp }) => stamp !== this.#config.stamp)) this.#isConfigStale = true;
    const fits = !this.#hasMore && deliveries.length <= this.room;
    if (!fits || this.#config.isOrdered || !this.maySend) {
      this.#hasMore = true;
      return false;
    }
    this.queue(deliveries.map((delivery) => dueFromFanOut(delivery, now)));
    return true;
  }

  queue(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) {
      if (this.#inHand.has(delivery.id)) continue;
      this.#inHand.set(delivery.id, delivery.orderKey);
      this.#queue.push(delivery);
    }
    if (deliveries.length > 0) this.#idleSince = null;
  }

  /** Takes deliveries in hand without queueing them: their owner's rights are being checked. */
  holdBack(deliveries: readonly DueDelivery[]): void {
    for (const { id, orderKey } of deliveries) this.#inHand.set(id, orderKey);
    if (deliveries.length > 0) this.#idleSince = null;
  }

  /** Queues what was held back; if nothing may be sent now, it is left to the table. */
  queueHeldBack(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) {
      if (!this.#inHand.has(delivery.id)) continue;
      if (this.#config.isSendable && !this.#isEnding) this.#queue.push(delivery);
      else this.release(delivery.id);
    }
  }

  /** Takes in the result of a read of the table. */
  polled(found: number, wanted: number, now: number): void {
    // Events behind the head of their conversation show up when the head is recorded.
    this.#hasMore = found >= wanted;
    this.#pollMs = found > 0 ? SHORTEST_POLL_MS : Math.min(this.#pollMs * 2, LONGEST_POLL_MS);
    this.#pollAt = now + this.#pollMs;
    if (this.#inHand.size === 0 && found === 0) this.#idleSince ??= now;
  }

  /** Begins the next attempt if queue, pace and breaker allow one. */
  beginNext(now: number): LaneTurn {
    if (!this.hasQueued || !this.maySend) return NOTHING;
    if (this.#pace.room(now) === 0) {
      return { delivery: null, waitMs: this.#pace.waitMs(now) || null };
    }
    const admission = this.#health.admit(now);
    if (admission === 'wait') {
      const probeAt = this.#health.state.breaker.nextProbeAt ?? now;
      return { delivery: null, waitMs: probeAt > now ? probeAt - now : null };
    }
    this.#pace.begin(now);
    return { delivery: this.#queue.shift()!, isProbe: admission === 'probe' };
  }

  /**
   * Takes in the result of an attempt.
   * @returns why the endpoint must be disabled; from then on nothing is sent until {@link resume}
   */
  endAttempt(
    { id, eventId }: DueDelivery,
    verdict: Verdict,
    isProbe: boolean,
    begunAt: number,
    now: number,
  ): 'gone' | 'failing' | null {
    const { kind } = verdict;
    this.#pace.end(
      kind === 'delivered' ? 'ok' : kind === 'slow_down' ? kind : 'other',
      begunAt,
      now,
    );
    this.#health.record(verdict, eventId, isProbe, now);
    if (kind === 'withdrawn') this.release(id);
    if (kind === 'withdrawn' || this.#isEnding) return null;
    const reason = kind === 'gone' ? kind : this.#health.isHopeless(now) ? 'failing' : null;
    this.#isEnding = reason !== null;
    return reason;
  }

  /** The endpoint could not be disabled. */
  resume(): void {
    this.#isEnding = false;
  }

  /** The result of an attempt is in the table: the delivery, or the next one of its conversation, is due later. */
  settle({ id, orderKey }: DueDelivery, settlement: Settlement, now: number): void {
    this.release(id);
    if (settlement.state === 'pending') this.#pollAt = Math.min(this.#pollAt, settlement.nextAt);
    else if (orderKey !== null) this.#pollAt = Math.min(this.#pollAt, now);
  }

  /** Forgets a delivery: its result is in the table, or it is to be read again. */
  release(id: string): void {
    const key = this.#inHand.get(id);
    this.#inHand.delete(id);
    if (key !== null && key !== undefined) this.#hasMore = true;
  }

  /** See {@link HealthTracker.takeUnsaved}. */
  takeUnsavedHealth(): Health | null {
    return this.#health.takeUnsaved();
  }

  keepHealthUnsaved(): void {
    this.#health.keepUnsaved();
  }

  #putBack(): void {
    for (const { id } of this.#queue) this.#inHand.delete(id);
    this.#queue = [];
    this.#hasMore = true;
  }
}
