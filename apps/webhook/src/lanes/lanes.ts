import type { Clock } from '@dak/kernel';
import type { FreshDelivery } from '../fan-out/fan-out';
import type { Settlement } from '../decisions/settle-attempt';
import type { DueDelivery } from './due-delivery';
import type { Lane } from './lane';

/** For so long a lane of another process is not claimed again. */
const TAKEN_FOR_MS = 1_000;
const MAX_TAKEN = 10_000;

/**
 * The lanes that this process holds, and the endpoints whose lanes it wants. `LaneKeeper` fills them from the database,
 * `Sender` empties them; the two meet here alone.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #onSendable: (lane: Lane) => void;
  readonly #onWork: () => void;
  readonly #held = new Map<string, Lane>();
  /** Endpoints whose lanes are to be claimed at once; true for those that certainly have something due. */
  readonly #wanted = new Map<string, boolean>();
  /** Endpoints whose lanes other processes hold, with the time until which they are not wanted. */
  readonly #takenUntil = new Map<string, number>();
  /** By the monotonic clock, which runs on while the process is frozen; nothing may be sent after this. */
  #leaseUntil = 0;

  constructor(options: {
    clock: Clock;
    /** The lane has something queued. */
    onSendable: (lane: Lane) => void;
    /** There is something to claim or to read. */
    onWork: () => void;
  }) {
    this.#clock = options.clock;
    this.#onSendable = options.onSendable;
    this.#onWork = options.onWork;
  }

  get all(): Lane[] {
    return [...this.#held.values()];
  }

  holds(lane: Lane): boolean {
    return this.#held.get(lane.endpointId) === lane;
  }

  /** Whether no other process can have the lane. */
  isLeased(lane: Lane): boolean {
    return performance.now() < this.#leaseUntil && this.holds(lane);
  }

  get isLeaseOver(): boolean {
    return performance.now() >= this.#leaseUntil;
  }

  /** Queues deliveries that were just committed, or has them read or claimed. */
  add(deliveries: readonly FreshDelivery[]): void {
    const now = this.#clock();
    let isWork = false;
    for (const [endpointId, fresh] of Map.groupBy(deliveries, (one) => one.endpoint_id)) {
      const lane = this.#held.get(endpointId);
      if (lane === undefined) {
        if ((this.#takenUntil.get(endpointId) ?? 0) >= now) continue;
        this.#wanted.set(endpointId, true);
        isWork = true;
      } else if (lane.queueFresh(fresh, now)) this.ready(lane);
      else isWork = true;
    }
    if (isWork) this.#onWork();
  }

  /** Notifies the sender of queued deliveries. */
  ready(lane: Lane): void {
    if (lane.hasQueued && this.holds(lane)) this.#onSendable(lane);
  }

  /** Endpoints were changed, or deliveries for them have become due. */
  refresh(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) {
      const lane = this.#held.get(endpointId);
      if (lane === undefined) this.#wanted.set(endpointId, this.#wanted.get(endpointId) ?? false);
      else lane.refresh();
    }
    this.#onWork();
  }

  /** There is something to claim or to read. */
  wake(): void {
    this.#onWork();
  }

  /** The result of an attempt is in the table. */
  settle(lane: Lane, delivery: DueDelivery, settlement: Settlement): void {
    lane.settle(delivery, settlement, this.#clock());
    this.refill(lane);
  }

  /** Has the table read if the lane has room for what is in it. */
  refill(lane: Lane): void {
    if (lane.wantsMore(this.#clock())) this.#onWork();
  }

  get isAnyWanted(): boolean {
    return this.#wanted.size > 0;
  }

  /** The endpoints whose lanes are to be claimed; they are wanted no longer. */
  takeWanted(): Map<string, boolean> {
    const wanted = new Map(this.#wanted);
    this.#wanted.clear();
    return wanted;
  }

  /**
   * Notes which of the wanted lanes could be claimed, and until when. All leases count as ending together: a new one
   * holds at least as long as those renewed before.
   */
  noteClaimed(
    wanted: ReadonlyMap<string, boolean>,
    claimed: ReadonlySet<string>,
    leaseUntil: number,
  ): void {
    if (this.#held.size === 0) this.#leaseUntil = leaseUntil;
    const until = this.#clock() + TAKEN_FOR_MS;
    if (this.#takenUntil.size > MAX_TAKEN) this.#takenUntil.clear();
    for (const [endpointId, isDue] of wanted) {
      if (claimed.has(endpointId)) this.#takenUntil.delete(endpointId);
      else if (isDue) this.#takenUntil.set(endpointId, until);
    }
  }

  leaseAll(until: number): void {
    this.#leaseUntil = until;
  }

  open(lane: Lane): void {
    this.#held.set(lane.endpointId, lane);
  }

  /** The lane belongs to another process, or to none. */
  lose(lane: Lane): void {
    if (this.holds(lane)) this.#held.delete(lane.endpointId);
  }

  loseAll(): void {
    this.#held.clear();
  }
}
