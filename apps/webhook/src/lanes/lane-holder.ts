import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { PollingLoop } from '@dak/platform/lifecycle';
import { mayStillGet } from '../visibility/scopes-of-makers';
import type { FreshDelivery } from '../fan-out/fan-out';
import type { Sealing } from '../secrets/sealing';
import type { VisibilityClient } from '../visibility/readable-by';
import { consignmentOf, hasWaited, headsOf } from './consignments';
import { Lane, type Consignment } from './lane';
import { readLaneConfig, readLaneHealth, type LaneConfig } from './lane-config';
import {
  claimLanes,
  releaseLanes,
  renewLanes,
  selectDue,
  selectDueHeads,
  selectLaneConfigs,
  type DueRow,
  type LaneClaim,
  type LaneConfigRow,
} from './lane-store';
import { cancelUnreadable } from './recheck-owners';
import { cancelDeliveries, postpone } from './waiting-store';

export interface LaneHolderDeps {
  database: Database;
  sealing: Sealing;
  clock: Clock;
  /** Of this process alone. */
  owner: string;
  /** Asked about what has waited: its owner may have lost access since it was made. */
  visibility: VisibilityClient;
  leaseMs?: number;
  /** The lane has something to send. */
  onQueued: (lane: Lane) => void;
  onLost: (lane: Lane) => void;
  onError: (error: unknown) => void;
}

const LEASE_MS = 10_000;
const DISCOVER_EVERY_MS = 500;
const MOST_CLAIMED_AT_ONCE = 100;
/** Rows of one look into the table, shared by the lanes that look. */
const MOST_OF_A_LOOK = 1_000;
const LEAST_SHARE = 8;
/** Then the lane is free for whoever gets the next event. */
const IDLE_MS = 30_000;
/** A lane of another process is not asked for again within this time. */
const TAKEN_FOR_MS = 1_000;
/** Then it is asked again who may read. */
const UNANSWERED_MS = 10_000;

/**
 * Leases lanes, and brings what is due into their queues: handed over by fan-out in this process, or
 * read from the table, whose due rows are the queue that everybody shares.
 */
export class LaneHolder {
  readonly #deps: LaneHolderDeps;
  readonly #leaseMs: number;
  readonly #lanes = new Map<string, Lane>();
  /** Endpoints to claim at once; true for those that have something due for sure. */
  readonly #wanted = new Map<string, boolean>();
  readonly #takenUntil = new Map<string, number>();
  /** By the monotonic clock, which goes on while the process is stopped: then nothing may be sent. */
  #leaseUntil = 0;
  /** Questions under way; leases are renewed meanwhile. */
  readonly #rechecks = new Set<Promise<void>>();
  #renewAt = 0;
  #discoverAt = 0;
  readonly #loop: PollingLoop;

  constructor(deps: LaneHolderDeps) {
    this.#deps = deps;
    this.#leaseMs = deps.leaseMs ?? LEASE_MS;
    this.#loop = new PollingLoop(() => this.#turn(), deps.onError);
  }

  get held(): ReadonlyMap<string, Lane> {
    return this.#lanes;
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#rechecks);
  }

  /** Frees all lanes for others at once. */
  async release(): Promise<void> {
    const { database, owner, onError } = this.#deps;
    // When the database is away the leases end by themselves.
    await releaseLanes(database, owner, [...this.#lanes.keys()]).catch(onError);
    this.#lanes.clear();
  }

  /** Whether the lane is still ours for sure. */
  mayAct(lane: Lane): boolean {
    return performance.now() < this.#leaseUntil && this.#lanes.get(lane.endpointId) === lane;
  }

  offer(deliveries: readonly FreshDelivery[]): void {
    if (this.#loop.isStopping) return;
    const now = this.#deps.clock();
    let isNews = false;
    for (const [endpointId, fresh] of Map.groupBy(deliveries, (one) => one.endpointId)) {
      const lane = this.#lanes.get(endpointId);
      if (lane === undefined) {
        if ((this.#takenUntil.get(endpointId) ?? 0) < now) {
          this.#wanted.set(endpointId, true);
          isNews = true;
        }
        continue;
      }
      if (lane.config.stamp !== fresh[0]!.stamp) lane.isConfigStale = true;
      const fits = !lane.hasMore && fresh.length <= lane.room;
      if (fits && !lane.config.isOrdered && lane.maySend) {
        lane.push(fresh.map((delivery) => consignmentOf(delivery, now)));
        this.#deps.onQueued(lane);
      } else {
        lane.hasMore = true;
        isNews = true;
      }
    }
    if (isNews) this.#loop.wake();
  }

  refresh(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) {
      const lane = this.#lanes.get(endpointId);
      if (lane === undefined) this.#wanted.set(endpointId, this.#wanted.get(endpointId) ?? false);
      else {
        lane.isConfigStale = true;
        lane.hasMore = true;
      }
    }
    this.#loop.wake();
  }

  /** Gives a lane up; whoever claims it next reads everything anew. */
  async drop(lane: Lane): Promise<void> {
    if (this.#lanes.get(lane.endpointId) === lane) this.#lose(lane);
    await releaseLanes(this.#deps.database, this.#deps.owner, [lane.endpointId]);
  }

  /** The lane has little left to send: what the table has is brought in meanwhile. */
  drained(lane: Lane): void {
    if (lane.wantsMore(this.#deps.clock())) this.#loop.wake();
  }

  /** Something of the lane becomes due then. */
  expect(lane: Lane, at: number): void {
    if (at < lane.checkAt) lane.checkAt = at;
    if (lane.hasMore || at <= this.#deps.clock()) this.#loop.wake();
  }

  async #turn(): Promise<number> {
    try {
      if (performance.now() >= this.#renewAt) await this.#renew();
      if (this.#wanted.size > 0 || performance.now() >= this.#discoverAt) await this.#claim();
      await this.#readConfigs([...this.#lanes.values()].filter((lane) => lane.isConfigStale));
      await this.#look();
    } finally {
      if (performance.now() >= this.#leaseUntil) this.#loseAll();
    }
    return this.#untilNext();
  }

  async #renew(): Promise<void> {
    const { database, owner } = this.#deps;
    const asked = performance.now();
    const still = await renewLanes(database, owner, this.#leaseMs, [...this.#lanes.keys()]);
    this.#leaseUntil = asked + this.#leaseMs;
    this.#renewAt = asked + this.#leaseMs / 3;
    const epochs = new Map(still.map(({ endpointId, epoch }) => [endpointId, epoch]));
    for (const lane of [...this.#lanes.values()]) {
      if (epochs.get(lane.endpointId) !== lane.epoch) this.#lose(lane);
    }
    await this.#releaseIdle();
    // What another process has changed is known here by now at the latest.
    await this.#readConfigs([...this.#lanes.values()]);
  }

  async #releaseIdle(): Promise<void> {
    const { database, owner, clock } = this.#deps;
    const now = clock();
    const idle = [...this.#lanes.values()].filter(
      ({ idleSince, inHand }) => idleSince !== null && inHand === 0 && now - idleSince > IDLE_MS,
    );
    if (idle.length === 0) return;
    for (const lane of idle) this.#lose(lane);
    await releaseLanes(
      database,
      owner,
      idle.map(({ endpointId }) => endpointId),
    );
  }

  async #claim(): Promise<void> {
    const { database, owner, clock } = this.#deps;
    const isDiscovery = performance.now() >= this.#discoverAt;
    const wanted = new Map(this.#wanted);
    this.#wanted.clear();
    const asked = performance.now();
    const claims = await claimLanes(
      database,
      owner,
      this.#leaseMs,
      isDiscovery ? null : [...wanted.keys()],
      MOST_CLAIMED_AT_ONCE,
    );
    if (isDiscovery) {
      this.#discoverAt = claims.length === MOST_CLAIMED_AT_ONCE ? 0 : asked + DISCOVER_EVERY_MS;
    }
    // One end for all leases: the new ones hold at least as long as those renewed before.
    if (this.#lanes.size === 0) this.#leaseUntil = asked + this.#leaseMs;
    const taken = new Set(claims.map(({ endpointId }) => endpointId));
    const until = clock() + TAKEN_FOR_MS;
    if (this.#takenUntil.size > 10_000) this.#takenUntil.clear();
    for (const [endpointId, isDue] of wanted) {
      if (taken.has(endpointId)) this.#takenUntil.delete(endpointId);
      else if (isDue) this.#takenUntil.set(endpointId, until);
    }
    if (claims.length > 0) await this.#open(claims);
  }

  async #open(claims: readonly LaneClaim[]): Promise<void> {
    const { database, clock } = this.#deps;
    const rows = await selectLaneConfigs(
      database,
      claims.map(({ endpointId }) => endpointId),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const claim of claims) {
      const row = byId.get(claim.endpointId);
      const config = row === undefined ? null : this.#configOf(row);
      // Deleted in between, or unreadable: its lease ends by itself.
      if (row === undefined || config === null) continue;
      const lane = new Lane(claim, config, readLaneHealth(row), clock());
      this.#lanes.set(claim.endpointId, lane);
    }
  }

  /** Null when it cannot be read, e.g. sealed under another secret: that must not stop the other lanes. */
  #configOf(row: LaneConfigRow): LaneConfig | null {
    try {
      return readLaneConfig(row, this.#deps.sealing);
    } catch (error) {
      this.#deps.onError(error);
      return null;
    }
  }

  async #readConfigs(lanes: readonly Lane[]): Promise<void> {
    const { database, onQueued } = this.#deps;
    if (lanes.length === 0) return;
    const rows = await selectLaneConfigs(
      database,
      lanes.map(({ endpointId }) => endpointId),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const lane of lanes) {
      const row = byId.get(lane.endpointId);
      const config = row === undefined ? null : this.#configOf(row);
      if (row === undefined || config === null) {
        this.#lose(lane);
        continue;
      }
      lane.adopt(config, readLaneHealth(row), this.#deps.clock());
      onQueued(lane);
    }
  }

  /** One statement for all lanes that want more; each gets a share, so that none waits for another. */
  async #look(): Promise<void> {
    const { database, clock } = this.#deps;
    const now = clock();
    const looking = [...this.#lanes.values()].filter((lane) => lane.wantsMore(now));
    if (looking.length === 0) return;
    const most = Math.max(LEAST_SHARE, Math.floor(MOST_OF_A_LOOK / looking.length));
    const shares = looking.map((lane) => ({ lane, wanted: Math.min(lane.room, most) }));
    const [ordered, unordered] = [true, false].map((isOrdered) =>
      shares
        .filter(({ lane }) => lane.config.isOrdered === isOrdered)
        .map(({ lane, wanted }) => ({ endpointId: lane.endpointId, wanted })),
    ) as [{ endpointId: string; wanted: number }[], { endpointId: string; wanted: number }[]];
    const known = looking.flatMap((lane) => lane.knownIds);
    const busy = looking.flatMap((lane) => lane.busyKeys);
    const found = await Promise.all([
      unordered.length === 0 ? [] : selectDue(database, unordered, known),
      ordered.length === 0 ? [] : selectDueHeads(database, ordered, known, busy),
    ]);
    const refused = await this.#cancelUngranted(found.flat());
    const byLane = Map.groupBy(found.flat(), (row) => row.endpoint_id);
    const held: Held[] = [];
    for (const { lane, wanted } of shares) {
      if (this.#lanes.get(lane.endpointId) !== lane) continue;
      const rows = byLane.get(lane.endpointId) ?? [];
      if (rows.some(({ stamp }) => stamp !== lane.config.stamp)) {
        this.refresh([lane.endpointId]);
        continue;
      }
      const heads = headsOf(
        lane,
        rows.filter(({ id }) => !refused.has(id)),
      );
      const waited = heads.filter((head) => hasWaited(head, now));
      lane.push(heads.filter((head) => !hasWaited(head, now)));
      lane.hold(waited);
      if (waited.length > 0) held.push({ lane, stamp: lane.config.stamp, consignments: waited });
      lane.looked(rows.length, wanted, clock());
      if (lane.queued > 0) this.#deps.onQueued(lane);
    }
    if (held.length > 0) this.#recheck(held);
  }

  /** A key that has changed an endpoint since may have less rights than those who made the deliveries. */
  async #cancelUngranted(rows: readonly DueRow[]): Promise<ReadonlySet<string>> {
    const refused = rows.filter((row) => !mayStillGet(row.maker_scopes, row));
    await cancelDeliveries(
      this.#deps.database,
      refused.map((row) => ({ endpointId: row.endpoint_id, id: row.id })),
    );
    return new Set(refused.map(({ id }) => id));
  }

  /** Lets go on what its owners may still read: one question for all that this look brought. */
  #recheck(held: readonly Held[]): void {
    const check = this.#admitReadable(held)
      .catch((error: unknown) => {
        this.#deps.onError(error);
        for (const { lane, consignments } of held) {
          for (const { id } of consignments) lane.release(id);
        }
      })
      .finally(() => {
        this.#rechecks.delete(check);
        this.#loop.wake();
      });
    this.#rechecks.add(check);
  }

  async #admitReadable(held: readonly Held[]): Promise<void> {
    const { database, visibility, onQueued, onError } = this.#deps;
    const waiting = held.flatMap(({ lane: { endpointId }, consignments }) =>
      consignments.map(({ id }) => ({ endpointId, id })),
    );
    let refused: ReadonlySet<string>;
    try {
      refused = await cancelUnreadable(database, visibility, waiting);
    } catch (error) {
      onError(error);
      await postpone(database, waiting, UNANSWERED_MS);
      refused = new Set(waiting.map(({ id }) => id));
    }
    for (const { lane, stamp, consignments } of held) {
      // What people have changed meanwhile may say something else: it is read again.
      const isOutdated = lane.config.stamp !== stamp;
      for (const { id } of consignments) if (isOutdated || refused.has(id)) lane.release(id);
      if (this.#lanes.get(lane.endpointId) !== lane) continue;
      lane.admit(consignments);
      if (lane.queued > 0) onQueued(lane);
    }
  }

  #untilNext(): number {
    const now = this.#deps.clock();
    let wait = Math.min(this.#renewAt, this.#discoverAt) - performance.now();
    for (const lane of this.#lanes.values()) {
      if (lane.wantsMore(now)) return 0;
      if (lane.maySend && lane.room > 0) wait = Math.min(wait, lane.checkAt - now);
    }
    // A floor keeps a lane that is asked for more than it can take from spinning.
    return Math.max(1, wait);
  }

  #lose(lane: Lane): void {
    this.#lanes.delete(lane.endpointId);
    this.#deps.onLost(lane);
  }

  #loseAll(): void {
    for (const lane of [...this.#lanes.values()]) this.#lose(lane);
  }
}

interface Held {
  lane: Lane;
  /** Of the lane when they were read. */
  stamp: string;
  consignments: readonly Consignment[];
}
