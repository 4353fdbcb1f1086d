import { withFailure, type FailureStreak } from '../decisions/auto-disable';
import { Breaker } from '../decisions/breaker';
import type { Verdict } from '../decisions/classify-outcome';
import { Pace } from '../decisions/pace';
import type { AttemptedDelivery } from '../decisions/settle-attempt';
import type { LaneConfig, LaneHealth } from './lane-config';
import type { LaneClaim } from './lane-store';

/** A delivery in hand. */
export interface Consignment extends AttemptedDelivery {
  eventId: string;
  /** W3C trace context of the event. */
  traceparent: string | null;
  body: Buffer;
  /** Of an ordered endpoint. */
  orderKey: string | null;
  gap: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** In hand at most, so that no endpoint takes all the memory. */
export const MOST_IN_HAND = 512;
/** What is recorded frees a few places after the other; they are filled together. */
const LEAST_ROOM = MOST_IN_HAND / 4;
const SHORTEST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;
/** So long after a hold has ended endpoints are sent to gently at first. */
const GENTLE_FOR_MS = 60_000;
/** A success is written down at once after failures, else so often. */
const SUCCESS_NOTED_EVERY_MS = 10_000;

/** What this process knows of an endpoint whose only sender it is. */
export class Lane {
  readonly endpointId: string;
  readonly epoch: number;
  readonly pace: Pace;
  breaker: Breaker;
  /** The row of the endpoint may say something else than `config`. */
  isConfigStale = false;
  /** The endpoint is being disabled: nothing more goes out, whatever its row still says. */
  isEnding = false;
  /** Health that is not written down yet. */
  isHealthDirty = false;
  /** The table has more than is in hand. */
  hasMore = true;
  /** When to look into the table, milliseconds since the epoch. */
  checkAt = 0;
  /** Since when there was nothing to do; null while there is. */
  idleSince: number | null = null;
  streak: FailureStreak | null;
  lastSuccessAt: number | null;
  #config: LaneConfig;
  #pollMs = SHORTEST_POLL_MS;
  #notedSuccessAt: number;
  #queue: Consignment[] = [];
  readonly #inHand = new Map<string, string | null>();

  constructor(claim: LaneClaim, config: LaneConfig, health: LaneHealth, now: number) {
    this.endpointId = claim.endpointId;
    this.epoch = claim.epoch;
    this.#config = config;
    this.pace = new Pace(config.limits, now);
    this.breaker = new Breaker(health.breaker);
    this.streak = health.streak;
    this.lastSuccessAt = health.lastSuccessAt;
    this.#notedSuccessAt = health.lastSuccessAt ?? 0;
    if (now - config.releasedAt < GENTLE_FOR_MS) this.pace.beginGently(now);
  }

  get config(): LaneConfig {
    return this.#config;
  }

  /**
   * Takes over what the row of the endpoint says now. Where people have changed something, its health
   * counts too: another URL, or enabling it, begins with a clean record.
   */
  adopt(config: LaneConfig, health: LaneHealth, now: number): void {
    const isMoved = config.url !== this.#config.url;
    if (isMoved || (config.stamp !== this.#config.stamp && !this.isHealthDirty)) {
      this.breaker = new Breaker(health.breaker);
      this.streak = health.streak;
      this.isHealthDirty = false;
    }
    // What is queued was judged by what people had set before.
    if (config.stamp !== this.#config.stamp) this.putBack();
    const isReleased = config.releasedAt > this.#config.releasedAt;
    this.#config = config;
    this.isConfigStale = false;
    this.pace.setLimits(config.limits);
    if (isReleased) {
      this.pace.beginGently(now);
      if (this.streak !== null) {
        const firstAt = Math.max(this.streak.firstAt, config.releasedAt);
        this.streak = { ...this.streak, firstAt };
      }
    }
    if (!config.isSendable) this.putBack();
  }

  get maySend(): boolean {
    return this.#config.isSendable && !this.isConfigStale && !this.isEnding;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Queued, under way, or done and not recorded yet. */
  get inHand(): number {
    return this.#inHand.size;
  }

  get knownIds(): string[] {
    return [...this.#inHand.keys()];
  }

  /** Conversations with an event in hand, as the store names them. */
  get busyKeys(): string[] {
    return [...this.#inHand.values()].flatMap((key) =>
      key === null ? [] : [`${this.endpointId}/${key}`],
    );
  }

  get room(): number {
    return MOST_IN_HAND - this.#inHand.size;
  }

  /** Whether the table should be asked now. */
  wantsMore(now: number): boolean {
    if (!this.maySend) return false;
    if (this.hasMore) return this.#queue.length <= MOST_IN_HAND / 2 && this.room >= LEAST_ROOM;
    return now >= this.checkAt && this.room > 0;
  }

  push(consignments: readonly Consignment[]): void {
    for (const consignment of consignments) {
      if (this.#inHand.has(consignment.id)) continue;
      this.#inHand.set(consignment.id, consignment.orderKey);
      this.#queue.push(consignment);
    }
    if (consignments.length > 0) this.idleSince = null;
  }

  /** In hand without being queued: they must not be sent before it is known who may read them. */
  hold(consignments: readonly Consignment[]): void {
    for (const { id, orderKey } of consignments) this.#inHand.set(id, orderKey);
    if (consignments.length > 0) this.idleSince = null;
  }

  /** Queues what is still held, unless nothing may be sent any more: the table still has it then. */
  admit(consignments: readonly Consignment[]): void {
    for (const consignment of consignments) {
      if (!this.#inHand.has(consignment.id)) continue;
      if (this.#config.isSendable && !this.isEnding) this.#queue.push(consignment);
      else this.release(consignment.id);
    }
  }

  /** Notes what a look into the table gave. */
  looked(found: number, wanted: number, now: number): void {
    // Of an ordered endpoint what is behind the heads shows up when they are recorded.
    this.hasMore = found >= wanted;
    this.#pollMs = found > 0 ? SHORTEST_POLL_MS : Math.min(this.#pollMs * 2, LONGEST_POLL_MS);
    this.checkAt = now + this.#pollMs;
    if (this.#inHand.size === 0 && found === 0) this.idleSince ??= now;
  }

  take(): Consignment | undefined {
    return this.#queue.shift();
  }

  /** Forgets what is queued; the table still has it. */
  putBack(): void {
    for (const { id } of this.#queue) this.#inHand.delete(id);
    this.#queue = [];
    this.hasMore = true;
  }

  /** Its result is in the table, or it is to be read anew. */
  release(id: string): void {
    const key = this.#inHand.get(id);
    this.#inHand.delete(id);
    if (key !== null && key !== undefined) this.hasMore = true;
  }

  /** What an attempt tells about the endpoint. */
  noteResult(
    verdict: Verdict,
    eventId: string,
    isProbe: boolean,
    begunAt: number,
    now: number,
  ): void {
    const before = this.breaker.state;
    const isSlow = verdict.kind === 'slow_down';
    const paced = verdict.kind === 'delivered' ? 'ok' : isSlow ? 'slow_down' : 'other';
    this.pace.end(paced, begunAt, now);
    if (verdict.kind === 'withdrawn') {
      if (isProbe) this.breaker.withdrawProbe();
      return;
    }
    this.breaker.record({ ...verdict, isProbe }, now);
    if (this.breaker.state !== before) this.isHealthDirty = true;
    if (verdict.kind === 'delivered') {
      if (this.streak !== null || now - this.#notedSuccessAt > SUCCESS_NOTED_EVERY_MS) {
        this.isHealthDirty = true;
        this.#notedSuccessAt = now;
      }
      this.streak = null;
      this.lastSuccessAt = now;
      return;
    }
    const streak = withFailure(this.streak, eventId, now);
    if (streak !== this.streak) this.isHealthDirty = true;
    this.streak = streak;
  }
}
