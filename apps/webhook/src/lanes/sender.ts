import { uuidv7, type Clock } from '@dak/kernel';
import { FairSlots } from '@dak/platform/fair-slots';
import type { GuardedHttp } from '@dak/platform/guarded-http';
import type { Database } from '@dak/platform/postgres';
import { describeSpan, inSpan } from '@dak/platform/telemetry';
import { isHopeless } from '../decisions/auto-disable';
import { classifyOutcome, type Verdict } from '../decisions/classify-outcome';
import { settleAttempt } from '../decisions/settle-attempt';
import type { FreshDelivery } from '../fan-out/fan-out';
import type { Sealing } from '../secrets/sealing';
import type { VisibilityClient } from '../visibility/readable-by';
import { attempt, startOf } from './attempt';
import { createAttemptRecorder, type AttemptRecorder } from './attempt-recorder';
import { type Lane, type Consignment } from './lane';
import { LaneHolder } from './lane-holder';
import { freeLanes } from './lane-store';

export interface SenderDeps {
  database: Database;
  http: GuardedHttp;
  sealing: Sealing;
  visibility: VisibilityClient;
  clock: Clock;
  onError: (error: unknown) => void;
  /** An attempt was made; `waitedMs` since the delivery was made, for the first one. */
  onAttempt: (verdict: Verdict, waitedMs: number | null) => void;
  /** The endpoint must not be sent to any more. */
  disable: (endpointId: string, reason: 'gone' | 'failing') => Promise<void>;
  /** Of this process alone, the same in all its lives. */
  processName?: string;
  /** @default 10000 */
  leaseMs?: number;
}

/** What the owners of lanes in all lives of this process begin with; null for one without a name. */
function formerLives({ processName }: SenderDeps): string | null {
  return processName === undefined ? null : `${processName}#`;
}

/** Attempts under way in this process that have begun just now; three quarters of them for one organization. */
const MOST_UNDER_WAY = 512;
const MOST_OF_ONE = 384;
/** Attempts besides whose receivers take their time. */
const MOST_SLOW = 1_536;
const SLOW_AFTER_MS = 2_000;
/** Results that may wait for the database before nothing more is sent. */
const MOST_UNRECORDED = 2_000;
const STOP_GRACE_MS = 8_000;

/**
 * Sends what is due for the endpoints whose lanes this process holds. Endpoints take turns, one attempt
 * each, so that neither a flood nor a slow receiver delays the others; nor do all the slow receivers of
 * one organization delay those of another.
 */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #lanes: LaneHolder;
  readonly #recorder: AttemptRecorder;
  /** Endpoints whose turn comes, in order. */
  readonly #turns = new Set<Lane>();
  readonly #slots = new FairSlots({
    most: MOST_UNDER_WAY,
    mostOfOne: MOST_OF_ONE,
    mostSlow: MOST_SLOW,
    slowAfterMs: SLOW_AFTER_MS,
  });
  /** By organization: endpoints whose turn comes when an attempt of it has ended. */
  readonly #crowded = new Map<string, Set<Lane>>();
  #freeTimer: NodeJS.Timeout | null = null;
  #isStopping = false;
  #onQuiet: () => void = () => undefined;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    const owner = `${formerLives(deps) ?? ''}${uuidv7()}`;
    this.#lanes = new LaneHolder({
      ...deps,
      owner,
      onQueued: (lane) => this.#ready(lane),
      onLost: (lane) => {
        this.#turns.delete(lane);
        this.#crowded.get(lane.config.organizationId)?.delete(lane);
      },
    });
    this.#recorder = createAttemptRecorder({ ...deps, owner });
  }

  /** Lanes that a former life of the process held are free at once. */
  async start(): Promise<void> {
    const former = formerLives(this.#deps);
    if (former !== null) await freeLanes(this.#deps.database, former);
    this.#lanes.start();
  }

  /** Deliveries that were just committed: sent at once where the lane is held here and has room. */
  offer(deliveries: readonly FreshDelivery[]): void {
    this.#lanes.offer(deliveries);
  }

  /** What people set for these endpoints has changed, or something has become due. */
  refresh(endpointIds: readonly string[]): void {
    this.#lanes.refresh(endpointIds);
  }

  /** What holds for all endpoints has changed. */
  refreshAll(): void {
    this.#lanes.refresh([...this.#lanes.held.keys()]);
  }

  get lanes(): ReadonlyMap<string, Lane> {
    return this.#lanes.held;
  }

  /** Waits for attempts under way, writes their results, frees the lanes. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#turns.clear();
    this.#crowded.clear();
    await this.#lanes.stop();
    await this.#quiet();
    await this.#recorder.close();
    await this.#lanes.release();
  }

  async #quiet(): Promise<void> {
    if (this.#slots.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    clearTimeout(timer);
  }

  #ready(lane: Lane): void {
    if (lane.queued > 0 && !this.#isStopping) this.#turns.add(lane);
    this.#pump();
  }

  /** Gives every endpoint that can be sent to one attempt after the other, in turns. */
  #pump(): void {
    for (const lane of this.#turns) {
      if (this.#recorder.waiting >= MOST_UNRECORDED) return;
      if (this.#slots.room() === 0) return this.#pumpWhenSlow();
      // A set is walked in the order of insertion: what is added again comes after all others.
      this.#turns.delete(lane);
      if (this.#isCrowded(lane)) continue;
      if (this.#sendOne(lane)) this.#turns.add(lane);
    }
  }

  /** Whether its organization has all the attempts under way that it may have: then it waits for one to end. */
  #isCrowded(lane: Lane): boolean {
    const { organizationId } = lane.config;
    if (this.#slots.roomOf(organizationId) > 0) return false;
    const waiting = this.#crowded.get(organizationId) ?? new Set();
    waiting.add(lane);
    this.#crowded.set(organizationId, waiting);
    return true;
  }

  #pumpWhenSlow(): void {
    const wait = this.#slots.freeInMs();
    if (wait === null || this.#freeTimer !== null) return;
    this.#freeTimer = setTimeout(() => {
      this.#freeTimer = null;
      this.#pump();
    }, wait + 1).unref();
  }

  /** Those whose organization has room again come after all others. */
  #readmit(organizationId: string): void {
    const waiting = this.#crowded.get(organizationId);
    if (waiting === undefined) return;
    this.#crowded.delete(organizationId);
    if (!this.#isStopping) for (const lane of waiting) this.#turns.add(lane);
  }

  /** False when the endpoint has to wait: for an event, a result, a token or its breaker. */
  #sendOne(lane: Lane): boolean {
    const now = this.#deps.clock();
    if (lane.queued === 0 || !lane.maySend || !this.#lanes.mayAct(lane)) return false;
    if (lane.pace.room(now) === 0) {
      const wait = lane.pace.waitMs(now);
      if (wait > 0) this.#wakeIn(lane, wait);
      return false;
    }
    const admission = lane.breaker.admit(now);
    if (admission === 'wait') {
      const probeAt = lane.breaker.state.nextProbeAt ?? now;
      if (probeAt > now) this.#wakeIn(lane, probeAt - now);
      return false;
    }
    const consignment = lane.take()!;
    if (lane.hasMore) this.#lanes.drained(lane);
    void this.#send(lane, consignment, admission === 'probe');
    return admission === 'send' && lane.queued > 0;
  }

  readonly #waking = new Set<Lane>();

  #wakeIn(lane: Lane, ms: number): void {
    if (this.#waking.has(lane)) return;
    this.#waking.add(lane);
    setTimeout(
      () => {
        this.#waking.delete(lane);
        this.#ready(lane);
      },
      Math.min(ms, 60_000),
    ).unref();
  }

  async #send(lane: Lane, consignment: Consignment, isProbe: boolean): Promise<void> {
    const { http, clock, onAttempt } = this.#deps;
    const begunAt = clock();
    const slot = this.#slots.take(lane.config.organizationId);
    lane.pace.begin(begunAt);
    const outcome = await inSpan(
      'webhook POST',
      { kind: 'client', attributes: attributesOf(consignment), parent: consignment.traceparent },
      async (traceparent) => {
        const made = await attempt(http, lane.config, consignment, begunAt, traceparent);
        describeSpan(
          made.kind === 'response'
            ? { 'http.response.status_code': made.status }
            : { 'error.type': made.code },
        );
        return made;
      },
    );
    const now = clock();
    const verdict = classifyOutcome(outcome, now);
    lane.noteResult(verdict, consignment.eventId, isProbe, begunAt, now);
    const reason = reasonToDisable(lane, verdict, now);
    if (reason !== null) lane.isEnding = true;
    this.#slots.release(slot);
    this.#readmit(slot.tenant);
    this.#ready(lane);
    if (this.#slots.size === 0) this.#onQuiet();
    if (verdict.kind === 'withdrawn') {
      lane.release(consignment.id);
      if (lane.hasMore) this.#lanes.drained(lane);
      return;
    }
    onAttempt(verdict, consignment.attempts === 0 ? begunAt - consignment.createdAt : null);
    await this.#settle(lane, consignment, {
      verdict,
      begunAt,
      now,
      durationMs: outcome.durationMs,
      responseStart: startOf(outcome),
    });
    if (reason !== null) await this.#disable(lane, reason);
  }

  async #settle(
    lane: Lane,
    consignment: Consignment,
    made: {
      verdict: Verdict;
      begunAt: number;
      now: number;
      durationMs: number;
      responseStart: string | null;
    },
  ): Promise<void> {
    const { verdict, begunAt, now } = made;
    const settlement = settleAttempt(consignment, verdict, now, lane.config.releasedAt);
    try {
      await this.#recorder.record({
        lane,
        organizationId: lane.config.organizationId,
        deliveryId: consignment.id,
        number: consignment.attempts + 1,
        settlement,
        outcome: verdict.kind as Exclude<Verdict['kind'], 'withdrawn'>,
        statusCode: verdict.statusCode,
        errorCode: verdict.errorCode,
        detail: verdict.detail,
        responseStart: verdict.kind === 'delivered' ? null : made.responseStart,
        gap: consignment.gap,
        at: begunAt,
        durationMs: made.durationMs,
      });
      lane.release(consignment.id);
      if (settlement.state === 'pending') this.#lanes.expect(lane, settlement.nextAt);
      else if (consignment.orderKey !== null) this.#lanes.expect(lane, now);
      // Nothing may be queued any more whose sending would ask for the rest.
      if (lane.hasMore) this.#lanes.drained(lane);
    } catch (error) {
      this.#deps.onError(error);
    }
    this.#pump();
  }

  async #disable(lane: Lane, reason: 'gone' | 'failing'): Promise<void> {
    try {
      await this.#deps.disable(lane.endpointId, reason);
      await this.#lanes.drop(lane);
    } catch (error) {
      this.#deps.onError(error);
      lane.isEnding = false;
    }
  }
}

function reasonToDisable(lane: Lane, verdict: Verdict, now: number): 'gone' | 'failing' | null {
  if (lane.isEnding) return null;
  if (verdict.kind === 'gone') return 'gone';
  return isHopeless(lane.streak, now) ? 'failing' : null;
}

function attributesOf({ id, eventId, attempts }: Consignment) {
  return { 'dak.delivery_id': id, 'dak.event_id': eventId, 'dak.attempt': attempts + 1 };
}
