import { uuidv7, type Clock } from '@dak/kernel';
import type { GuardedHttp } from '@dak/platform/guarded-http';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { BreakerState } from '../decisions/breaker';
import type { Verdict } from '../decisions/classify-outcome';
import type { FreshDelivery } from '../fan-out/fan-out';
import type { Sealing } from '../secrets/sealing';
import { createAttemptRecorder, type AttemptRecorder } from './attempt-recorder';
import { DueReader } from './due-reader';
import { LaneKeeper } from './lane-keeper';
import { Lanes } from './lanes';
import { Sender } from './sender';

export interface DispatcherDeps {
  database: Database;
  http: GuardedHttp;
  sealing: Sealing;
  visibility: VisibilityClient;
  clock: Clock;
  onError: (error: unknown) => void;
  /** An attempt was made; `waitedMs` since the delivery was made, for a first attempt. */
  onAttempt: (verdict: Verdict, waitedMs: number | null) => void;
  /** Disables an endpoint that must no longer be sent to. */
  disable: (endpointId: string, reason: 'gone' | 'failing') => Promise<void>;
  /** Unique to this process, and the same after every start. */
  processName?: string | undefined;
  /** @default 10000 */
  leaseMs?: number | undefined;
}

const LEASE_MS = 10_000;

/** Sends what is due for the endpoints whose lanes this process holds. */
export class Dispatcher {
  readonly #lanes: Lanes;
  readonly #keeper: LaneKeeper;
  readonly #sender: Sender;
  readonly #recorder: AttemptRecorder;
  /** Begins the owner names of this process in all its runs; null for a process without a name. */
  readonly #ownerPrefix: string | null;
  #isStopping = false;

  constructor(deps: DispatcherDeps) {
    const { processName, leaseMs = LEASE_MS } = deps;
    this.#ownerPrefix = processName === undefined ? null : `${processName}#`;
    const owner = `${this.#ownerPrefix ?? ''}${uuidv7()}`;
    const lanes = new Lanes({
      clock: deps.clock,
      onSendable: (lane) => this.#sender.ready(lane),
      onWork: () => this.#keeper.wake(),
    });
    this.#lanes = lanes;
    const dueReader = new DueReader({ ...deps, lanes });
    this.#keeper = new LaneKeeper({ ...deps, lanes, dueReader, owner, leaseMs });
    this.#recorder = createAttemptRecorder({ ...deps, owner });
    this.#sender = new Sender({
      ...deps,
      lanes,
      recorder: this.#recorder,
      disable: async (lane, reason) => {
        await deps.disable(lane.endpointId, reason);
        await this.#keeper.drop(lane);
      },
    });
  }

  start(): Promise<void> {
    return this.#keeper.start(this.#ownerPrefix);
  }

  /** Takes deliveries that were just committed: sent at once where the lane is held here and has room. */
  add(deliveries: readonly FreshDelivery[]): void {
    if (!this.#isStopping) this.#lanes.add(deliveries);
  }

  /** These endpoints were changed, or deliveries for them have become due. */
  refresh(endpointIds: readonly string[]): void {
    this.#lanes.refresh(endpointIds);
  }

  /** Something that concerns all endpoints was changed. */
  refreshAll(): void {
    this.#lanes.refresh(this.#lanes.all.map(({ endpointId }) => endpointId));
  }

  get breakerStates(): BreakerState['state'][] {
    return this.#lanes.all.map(({ breakerState }) => breakerState);
  }

  /** Waits for attempts under way, writes their results, frees the lanes. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sender.close();
    await this.#keeper.stop();
    await this.#sender.quiet();
    await this.#recorder.close();
    await this.#keeper.releaseAll();
  }
}
