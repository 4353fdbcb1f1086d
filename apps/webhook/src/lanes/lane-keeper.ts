import type { Clock } from '@dak/kernel';
import { PollingLoop } from '@dak/platform/lifecycle';
import type { Database } from '@dak/platform/postgres';
import type { Health } from '../decisions/health-tracker';
import type { Sealing } from '../secrets/sealing';
import type { DueReader } from './due-reader';
import { readHealth } from './health-row';
import { Lane } from './lane';
import { readLaneConfig, type LaneConfig } from './lane-config';
import {
  claimLanes,
  freeLanes,
  releaseLanes,
  renewLanes,
  selectLaneConfigs,
  type LaneClaim,
} from './lane-store';
import type { Lanes } from './lanes';

export interface LaneKeeperDeps {
  lanes: Lanes;
  dueReader: DueReader;
  database: Database;
  sealing: Sealing;
  clock: Clock;
  /** Unique to this run of the process. */
  owner: string;
  leaseMs: number;
  onError: (error: unknown) => void;
}

const DISCOVER_EVERY_MS = 500;
const MAX_CLAIMED_AT_ONCE = 100;
/** Then a lane is free for the process that gets the next event. */
const IDLE_MS = 30_000;

/** Leases lanes, keeps their settings up to date, and has their due deliveries read. */
export class LaneKeeper {
  readonly #deps: LaneKeeperDeps;
  readonly #loop: PollingLoop;
  #renewAt = 0;
  #discoverAt = 0;

  constructor(deps: LaneKeeperDeps) {
    this.#deps = deps;
    this.#loop = new PollingLoop(() => this.#turn(), deps.onError);
  }

  /** @param formerOwners begins the owner names of former runs of this process, whose lanes are freed at once */
  async start(formerOwners: string | null): Promise<void> {
    if (formerOwners !== null) await freeLanes(this.#deps.database, formerOwners);
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#deps.dueReader.stop();
  }

  /** Frees all lanes for others at once; while the database is away, leases end on their own. */
  async releaseAll(): Promise<void> {
    const { lanes, onError } = this.#deps;
    await this.#release(lanes.all).catch(onError);
  }

  /** Gives a lane up; the next claim reads everything from the database. */
  drop(lane: Lane): Promise<void> {
    return this.#release([lane]);
  }

  async #release(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    const { database, owner } = this.#deps;
    for (const lane of lanes) this.#deps.lanes.lose(lane);
    await releaseLanes(database, owner, idsOf(lanes));
  }

  async #turn(): Promise<number> {
    const { lanes, dueReader } = this.#deps;
    try {
      if (performance.now() >= this.#renewAt) await this.#renew();
      if (lanes.isAnyWanted || performance.now() >= this.#discoverAt) await this.#claim();
      await this.#readConfigs(lanes.all.filter(({ isConfigStale }) => isConfigStale));
      await dueReader.read();
    } finally {
      if (lanes.isLeaseOver) lanes.loseAll();
    }
    return this.#msUntilNext();
  }

  async #renew(): Promise<void> {
    const { database, owner, leaseMs, lanes, clock } = this.#deps;
    const asked = performance.now();
    const claims = await renewLanes(database, owner, leaseMs, idsOf(lanes.all));
    lanes.leaseAll(asked + leaseMs);
    this.#renewAt = asked + leaseMs / 3;
    const epochs = new Map(claims.map(({ endpointId, epoch }) => [endpointId, epoch]));
    for (const lane of lanes.all) {
      if (epochs.get(lane.endpointId) !== lane.epoch) lanes.lose(lane);
    }
    await this.#release(lanes.all.filter((lane) => lane.isIdleFor(IDLE_MS, clock())));
    // Changes made through other processes are found here at the latest.
    await this.#readConfigs(lanes.all);
  }

  async #claim(): Promise<void> {
    const { database, owner, leaseMs, lanes } = this.#deps;
    const isDiscovery = performance.now() >= this.#discoverAt;
    const wanted = lanes.takeWanted();
    const asked = performance.now();
    const claims = await claimLanes(
      database,
      owner,
      leaseMs,
      isDiscovery ? null : [...wanted.keys()],
      MAX_CLAIMED_AT_ONCE,
    );
    if (isDiscovery) {
      this.#discoverAt = claims.length === MAX_CLAIMED_AT_ONCE ? 0 : asked + DISCOVER_EVERY_MS;
    }
    lanes.noteClaimed(wanted, new Set(idsOf(claims)), asked + leaseMs);
    if (claims.length > 0) await this.#open(claims);
  }

  async #open(claims: readonly LaneClaim[]): Promise<void> {
    const { lanes, clock } = this.#deps;
    for (const [claim, found] of await this.#configsOf(claims)) {
      // Without settings, or with unreadable ones, the lease ends on its own.
      if (found === null) continue;
      lanes.open(new Lane(claim, found.config, found.health, clock()));
    }
  }

  async #readConfigs(some: readonly Lane[]): Promise<void> {
    const { lanes, clock } = this.#deps;
    if (some.length === 0) return;
    for (const [lane, found] of await this.#configsOf(some)) {
      if (found === null) lanes.lose(lane);
      else {
        lane.adopt(found.config, found.health, clock());
        lanes.ready(lane);
      }
    }
  }

  /**
   * The settings of endpoints; null for a deleted one, and for one that cannot be read, such as one sealed under another
   * secret, which must not stop the other lanes.
   */
  async #configsOf<Of extends { endpointId: string }>(
    some: readonly Of[],
  ): Promise<[Of, { config: LaneConfig; health: Health } | null][]> {
    const { database, sealing, onError } = this.#deps;
    const rows = await selectLaneConfigs(database, idsOf(some));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return some.map((one) => {
      const row = byId.get(one.endpointId);
      if (row === undefined) return [one, null];
      try {
        const config = readLaneConfig(row, sealing);
        return [one, { config, health: readHealth(row, config.releasedAt) }];
      } catch (error) {
        onError(error);
        return [one, null];
      }
    });
  }

  #msUntilNext(): number {
    const now = this.#deps.clock();
    const ownMs = Math.min(this.#renewAt, this.#discoverAt) - performance.now();
    const polls = this.#deps.lanes.all.map((lane) => lane.msUntilPoll(now));
    if (polls.includes(0)) return 0;
    // A floor keeps a lane that wants more than it can take from spinning.
    return Math.max(1, Math.min(ownMs, ...polls));
  }
}

function idsOf(some: readonly { endpointId: string }[]): string[] {
  return some.map(({ endpointId }) => endpointId);
}
