import type { Clock } from '@dak/kernel';
import type { GuardedHttp } from '@dak/platform/guarded-http';
import { describeSpan, inSpan } from '@dak/platform/telemetry';
import { classifyOutcome, type Verdict } from '../decisions/classify-outcome';
import { settleAttempt } from '../decisions/settle-attempt';
import { attempt, startOf } from './attempt';
import type { AttemptRecorder } from './attempt-recorder';
import type { DueDelivery } from './due-delivery';
import type { Lane } from './lane';
import type { Lanes } from './lanes';
import { Turns } from './turns';

export interface SenderDeps {
  lanes: Lanes;
  recorder: AttemptRecorder;
  http: GuardedHttp;
  clock: Clock;
  onError: (error: unknown) => void;
  /** An attempt was made; `waitedMs` since the delivery was made, for a first attempt. */
  onAttempt: (verdict: Verdict, waitedMs: number | null) => void;
  /** Disables an endpoint that must no longer be sent to. */
  disable: (lane: Lane, reason: 'gone' | 'failing') => Promise<void>;
}

/** Results that may wait for the database; nothing is sent while there are more. */
const MAX_UNRECORDED = 2_000;
const LONGEST_WAKE_MS = 60_000;
const STOP_GRACE_MS = 8_000;

/** Makes the attempts of all lanes of this process, and has their results recorded. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #turns = new Turns(() => this.#pump());
  /** Lanes with a timer that ends their wait for pace or breaker. */
  readonly #waking = new Set<Lane>();
  #isStopping = false;
  #onQuiet: () => void = () => undefined;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Sends what the lane has queued when its turn comes. */
  ready(lane: Lane): void {
    if (this.#isStopping) return;
    if (lane.hasQueued) this.#turns.add(lane);
    this.#pump();
  }

  /** Begins no further attempt. */
  close(): void {
    this.#isStopping = true;
    this.#turns.clear();
  }

  /** Resolves when no attempt is under way, or after 8 s. */
  async quiet(): Promise<void> {
    if (this.#turns.underWay === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    clearTimeout(timer);
  }

  #pump(): void {
    if (this.#isStopping || this.#isRecorderFull) return;
    for (const lane of this.#turns.next()) {
      if (this.#sendNext(lane)) this.#turns.add(lane);
      if (this.#isRecorderFull) return;
    }
  }

  get #isRecorderFull(): boolean {
    return this.#deps.recorder.waiting >= MAX_UNRECORDED;
  }

  /** @returns whether the lane has more to send at once */
  #sendNext(lane: Lane): boolean {
    const { clock, lanes } = this.#deps;
    if (!lanes.isLeased(lane)) return false;
    const now = clock();
    const turn = lane.beginNext(now);
    if (turn.delivery === null) {
      if (turn.waitMs !== null) this.#wakeIn(lane, turn.waitMs);
      return false;
    }
    lanes.refill(lane);
    void this.#send(lane, turn.delivery, turn.isProbe, now);
    return !turn.isProbe && lane.hasQueued;
  }

  #wakeIn(lane: Lane, ms: number): void {
    if (this.#waking.has(lane)) return;
    this.#waking.add(lane);
    setTimeout(
      () => {
        this.#waking.delete(lane);
        this.ready(lane);
      },
      Math.min(ms, LONGEST_WAKE_MS),
    ).unref();
  }

  async #send(lane: Lane, delivery: DueDelivery, isProbe: boolean, begunAt: number): Promise<void> {
    const { http, clock, lanes, onAttempt, onError, recorder } = this.#deps;
    const slot = this.#turns.begin(lane);
    const outcome = await inSpan(
      'webhook POST',
      { kind: 'client', attributes: attributesOf(delivery), parent: delivery.traceparent },
      async (traceparent) => {
        const made = await attempt(http, lane.config, delivery, begunAt, traceparent);
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
    const reasonToDisable = lane.endAttempt(delivery, verdict, isProbe, begunAt, now);
    this.#turns.end(slot);
    this.ready(lane);
    if (this.#turns.underWay === 0) this.#onQuiet();
    if (verdict.kind === 'withdrawn') return lanes.refill(lane);
    onAttempt(verdict, delivery.attempts === 0 ? begunAt - delivery.createdAt : null);
    const settlement = settleAttempt(delivery, verdict, now, lane.config.releasedAt);
    try {
      await recorder.record(lane, {
        endpoint_id: lane.endpointId,
        epoch: lane.epoch,
        organization_id: lane.config.organizationId,
        delivery_id: delivery.id,
        state: settlement.state,
        next_at: settlement.state === 'pending' ? new Date(settlement.nextAt).toISOString() : null,
        gap: delivery.gap,
        number: delivery.attempts + 1,
        at: new Date(begunAt).toISOString(),
        duration_ms: outcome.durationMs,
        outcome: verdict.kind,
        status_code: verdict.statusCode,
        error_code: verdict.errorCode,
        detail: verdict.detail,
        response_start: verdict.kind === 'delivered' ? null : startOf(outcome),
      });
      lanes.settle(lane, delivery, settlement);
    } catch (error) {
      onError(error);
    }
    this.#pump();
    if (reasonToDisable !== null) await this.#disable(lane, reasonToDisable);
  }

  async #disable(lane: Lane, reason: 'gone' | 'failing'): Promise<void> {
    try {
      await this.#deps.disable(lane, reason);
    } catch (error) {
      this.#deps.onError(error);
      lane.resume();
    }
  }
}

function attributesOf({ id, eventId, attempts }: DueDelivery) {
  return { 'dak.delivery_id': id, 'dak.event_id': eventId, 'dak.attempt': attempts + 1 };
}
