import { FairSlots, type Slot } from '@dak/platform/fair-slots';
import type { Lane } from './lane';

/** Attempts under way in this process that have begun just now; three quarters of them for one organization. */
const MAX_UNDER_WAY = 512;
const MAX_OF_ORGANIZATION = 384;
/** Further attempts whose receivers are slow. */
const MAX_SLOW = 1_536;
const SLOW_AFTER_MS = 2_000;

/**
 * Whose turn it is: lanes take turns, one attempt each, so that neither a flood nor a slow receiver delays other
 * endpoints, nor all slow receivers of one organization another organization.
 */
export class Turns {
  /** In order. */
  readonly #lanes = new Set<Lane>();
  /** By organization: lanes that wait for one of its attempts to end. */
  readonly #crowded = new Map<string, Set<Lane>>();
  readonly #slots = new FairSlots({
    most: MAX_UNDER_WAY,
    mostOfOne: MAX_OF_ORGANIZATION,
    mostSlow: MAX_SLOW,
    slowAfterMs: SLOW_AFTER_MS,
  });
  #onSlotFree: () => void;
  #timer: NodeJS.Timeout | null = null;

  /** @param onSlotFree attempts have become slow, so that others may begin */
  constructor(onSlotFree: () => void) {
    this.#onSlotFree = onSlotFree;
  }

  get underWay(): number {
    return this.#slots.size;
  }

  /** Queues the lane; one that is queued keeps its place. */
  add(lane: Lane): void {
    this.#lanes.add(lane);
  }

  /** Lanes that may begin an attempt, each taken out of the queue, until no slot is free. */
  *next(): Generator<Lane> {
    // A set is iterated in the order of insertion: a lane that is added again comes after all others.
    for (const lane of this.#lanes) {
      if (this.#slots.room() === 0) return this.#waitForSlow();
      this.#lanes.delete(lane);
      const { organizationId } = lane.config;
      if (this.#slots.roomOf(organizationId) > 0) yield lane;
      else {
        const waiting = this.#crowded.get(organizationId) ?? new Set();
        this.#crowded.set(organizationId, waiting.add(lane));
      }
    }
  }

  begin(lane: Lane): Slot {
    return this.#slots.take(lane.config.organizationId);
  }

  /** Frees the slot of an attempt; lanes that waited for it come after all others. */
  end(slot: Slot): void {
    this.#slots.release(slot);
    for (const lane of this.#crowded.get(slot.tenant) ?? []) this.#lanes.add(lane);
    this.#crowded.delete(slot.tenant);
  }

  clear(): void {
    this.#lanes.clear();
    this.#crowded.clear();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #waitForSlow(): void {
    const wait = this.#slots.freeInMs();
    if (wait === null || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#onSlotFree();
    }, wait + 1).unref();
  }
}
