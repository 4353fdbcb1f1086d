import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import { mayStillGet } from '../visibility/scopes-of-makers';
import { dueFromRows, needsRecheck, type DueDelivery } from './due-delivery';
import type { Lane } from './lane';
import { selectDue, selectDueHeads, type DueRow } from './lane-store';
import type { Lanes } from './lanes';
import { cancelUnreadable } from './cancel-unreadable';
import { cancelDeliveries, postpone } from './waiting-store';

export interface DueReaderDeps {
  lanes: Lanes;
  database: Database;
  /** Asked about what has waited: its owner may have lost access since it was made. */
  visibility: VisibilityClient;
  clock: Clock;
  onError: (error: unknown) => void;
}

/** Rows of one read, shared by all lanes that want more. */
const MAX_ROWS = 1_000;
const MIN_SHARE = 8;
/** Deliveries whose rights could not be checked wait this long. */
const UNANSWERED_MS = 10_000;

/** Deliveries that a lane holds back until the rights of its owner are checked. */
interface HeldBack {
  lane: Lane;
  /** The lane's when they were read. */
  stamp: string;
  deliveries: readonly DueDelivery[];
}

/** Brings due deliveries from the table, which is the queue that all processes share, to the lanes of this one. */
export class DueReader {
  readonly #deps: DueReaderDeps;
  /** Checks under way; leases are renewed meanwhile. */
  readonly #checks = new Set<Promise<void>>();

  constructor(deps: DueReaderDeps) {
    this.#deps = deps;
  }

  /** One statement for all lanes that want more; each gets a share, so that none waits for another. */
  async read(): Promise<void> {
    const { lanes, clock } = this.#deps;
    const now = clock();
    const hungry = lanes.all.filter((lane) => lane.wantsMore(now));
    if (hungry.length === 0) return;
    const share = Math.max(MIN_SHARE, Math.floor(MAX_ROWS / hungry.length));
    const wanted = new Map(hungry.map((lane) => [lane, Math.min(lane.room, share)]));
    const rows = await this.#select(wanted);
    const refused = await this.#cancelUngranted(rows);
    const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
    const held: HeldBack[] = [];
    for (const [lane, count] of wanted) {
      if (!lanes.holds(lane)) continue;
      const own = byEndpoint.get(lane.endpointId) ?? [];
      const { stamp, isOrdered } = lane.config;
      if (own.some((row) => row.stamp !== stamp)) {
        lanes.refresh([lane.endpointId]);
        continue;
      }
      const granted = own.filter(({ id }) => !refused.has(id));
      const due = Map.groupBy(dueFromRows(granted, isOrdered), (one) => needsRecheck(one, now));
      lane.queue(due.get(false) ?? []);
      const deliveries = due.get(true) ?? [];
      lane.holdBack(deliveries);
      if (deliveries.length > 0) held.push({ lane, stamp, deliveries });
      lane.polled(own.length, count, clock());
      lanes.ready(lane);
    }
    if (held.length > 0) this.#check(held);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#checks);
  }

  async #select(wanted: ReadonlyMap<Lane, number>): Promise<DueRow[]> {
    const { database } = this.#deps;
    const known = [...wanted.keys()].flatMap((lane) => lane.idsInHand);
    const busy = [...wanted.keys()].flatMap((lane) => lane.busyKeys);
    const sharesOf = (isOrdered: boolean) =>
      [...wanted]
        .filter(([lane]) => lane.config.isOrdered === isOrdered)
        .map(([{ endpointId }, count]) => ({ endpointId, wanted: count }));
    const [unordered, ordered] = [sharesOf(false), sharesOf(true)];
    const found = await Promise.all([
      unordered.length === 0 ? [] : selectDue(database, unordered, known),
      ordered.length === 0 ? [] : selectDueHeads(database, ordered, known, busy),
    ]);
    return found.flat();
  }

  /** A key that has changed an endpoint since may have fewer scopes than those that its deliveries were made under. */
  async #cancelUngranted(rows: readonly DueRow[]): Promise<ReadonlySet<string>> {
    const refused = rows.filter((row) => !mayStillGet(row.maker_scopes, row));
    await cancelDeliveries(
      this.#deps.database,
      refused.map((row) => ({ endpointId: row.endpoint_id, id: row.id })),
    );
    return new Set(refused.map(({ id }) => id));
  }

  /** Queues what the owners may still read: one question for everything that a read found. */
  #check(held: readonly HeldBack[]): void {
    const { lanes, onError } = this.#deps;
    const check = this.#queueReadable(held)
      .catch((error: unknown) => {
        onError(error);
        for (const { lane, deliveries } of held) for (const { id } of deliveries) lane.release(id);
      })
      .finally(() => {
        this.#checks.delete(check);
        lanes.wake();
      });
    this.#checks.add(check);
  }

  async #queueReadable(held: readonly HeldBack[]): Promise<void> {
    const { lanes, database, visibility, onError } = this.#deps;
    const waiting = held.flatMap(({ lane: { endpointId }, deliveries }) =>
      deliveries.map(({ id }) => ({ endpointId, id })),
    );
    let refused: ReadonlySet<string>;
    try {
      refused = await cancelUnreadable(database, visibility, waiting);
    } catch (error) {
      onError(error);
      await postpone(database, waiting, UNANSWERED_MS);
      refused = new Set(waiting.map(({ id }) => id));
    }
    for (const { lane, stamp, deliveries } of held) {
      // After a change of the endpoint they are read again.
      const isOutdated = lane.config.stamp !== stamp;
      for (const { id } of deliveries) if (isOutdated || refused.has(id)) lane.release(id);
      lane.queueHeldBack(deliveries);
      lanes.ready(lane);
    }
  }
}
