export interface FairSlotsOptions {
  /** Slots for what has just begun. */
  most: number;
  /** Slots of one tenant, slow ones included. */
  mostOfOne: number;
  /** Milliseconds after which work no longer takes one of `most`. @default 3000 */
  slowAfterMs?: number;
  /** What is slow goes on beside the slots, up to so much; more keeps its slot. */
  mostSlow: number;
  /** Milliseconds. @default performance.now */
  now?: () => number;
}

/** A place that work of a tenant takes. */
export interface Slot {
  readonly tenant: string;
  readonly since: number;
}

const SLOW_AFTER_MS = 3_000;

/**
 * Places for work that may take long because of a stranger, such as a server that keeps its clients
 * waiting. One tenant cannot take all of them, and slow work gives up its slot after a few
 * seconds, so that no tenant waits longer than that for another's slow peer.
 */
export class FairSlots {
  readonly #options: Required<FairSlotsOptions>;
  /** In the order in which they were taken. */
  readonly #quick = new Set<Slot>();
  readonly #slow = new Set<Slot>();
  readonly #byTenant = new Map<string, number>();

  constructor(options: FairSlotsOptions) {
    this.#options = { slowAfterMs: SLOW_AFTER_MS, now: () => performance.now(), ...options };
  }

  /** Taken at the moment. */
  get size(): number {
    return this.#quick.size + this.#slow.size;
  }

  /** How many may be taken now. */
  room(): number {
    this.#age();
    return Math.max(0, this.#options.most - this.#quick.size);
  }

  /** How many may be taken for the tenant, whatever the others have. */
  roomOf(tenant: string): number {
    return Math.max(0, this.#options.mostOfOne - (this.#byTenant.get(tenant) ?? 0));
  }

  /** Tenants that have taken something, with the room that is left to each. */
  *rooms(): Generator<[tenant: string, room: number]> {
    for (const tenant of this.#byTenant.keys()) yield [tenant, this.roomOf(tenant)];
  }

  /** Nothing stops the caller from exceeding the room. */
  take(tenant: string): Slot {
    const slot = { tenant, since: this.#options.now() };
    this.#quick.add(slot);
    this.#byTenant.set(tenant, (this.#byTenant.get(tenant) ?? 0) + 1);
    return slot;
  }

  release(slot: Slot): void {
    if (!this.#quick.delete(slot) && !this.#slow.delete(slot)) return;
    const left = this.#byTenant.get(slot.tenant)! - 1;
    if (left === 0) this.#byTenant.delete(slot.tenant);
    else this.#byTenant.set(slot.tenant, left);
  }

  /** Milliseconds until a slot becomes free because its work is slow; null when none will. */
  freeInMs(): number | null {
    this.#age();
    const [oldest] = this.#quick;
    if (oldest === undefined || this.#slow.size >= this.#options.mostSlow) return null;
    return Math.max(0, oldest.since + this.#options.slowAfterMs - this.#options.now());
  }

  /** What is slow, longest first, of the tenant that has most of it; up to so much, passing over some. */
  longestOfMost(count: number, isPassedOver: (slot: Slot) => boolean): Slot[] {
    this.#age();
    const before = this.#options.now() - this.#options.slowAfterMs;
    const slow = [...this.#slow, ...this.#quick].filter(
      (slot) => slot.since <= before && !isPassedOver(slot),
    );
    const groups = [...Map.groupBy(slow, ({ tenant }) => tenant).values()];
    const chosen: Slot[] = [];
    while (chosen.length < count) {
      const most = groups.reduce<Slot[]>((a, b) => (b.length > a.length ? b : a), []);
      const slot = most.shift();
      if (slot === undefined) break;
      chosen.push(slot);
    }
    return chosen;
  }

  #age(): void {
    const { slowAfterMs, mostSlow, now } = this.#options;
    const before = now() - slowAfterMs;
    for (const slot of this.#quick) {
      if (slot.since > before || this.#slow.size >= mostSlow) return;
      this.#quick.delete(slot);
      this.#slow.add(slot);
    }
  }
}
