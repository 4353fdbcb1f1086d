/** Octets of messages held in memory by all sessions of a listener. */
export interface ContentBudget {
  readonly limit: number;
  used: number;
}

/** Below this, slices of the sockets' read buffers are kept as they are. */
const MAX_SLICES = 64;

/**
 * The content of one message while it arrives. Bounded by the message limit and the budget shared
 * with all others: what goes beyond is read and forgotten, so that the session can be answered.
 */
export class ContentGathering {
  #slices: Buffer[] = [];
  #held = 0;
  #total = 0;
  #overBudget = false;

  constructor(
    private readonly maxBytes: number,
    /** All of them have to have room. */
    private readonly budgets: readonly ContentBudget[],
  ) {}

  /** Octets that arrived, kept or not. */
  get total(): number {
    return this.#total;
  }

  get tooLarge(): boolean {
    return this.#total > this.maxBytes;
  }

  get overBudget(): boolean {
    return this.#overBudget;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    if (this.#overBudget) return;
    if (this.tooLarge) {
      this.release();
      return;
    }
    if (this.budgets.some(({ used, limit }) => used + chunk.length > limit)) {
      this.#overBudget = true;
      this.release();
      return;
    }
    this.#held += chunk.length;
    for (const budget of this.budgets) budget.used += chunk.length;
    this.#slices.push(chunk);
    // A client that sends octet by octet would cost a hundred times what it sends. Merged in powers
    // of two, each octet is copied a few times at most.
    if (this.#slices.length > MAX_SLICES) this.#slices = mergeTail(this.#slices);
  }

  /** Everything in one piece, `front` before it; from then on only there, still counted until it is released. */
  take(front: Buffer): Buffer {
    const slices = this.#slices;
    this.#slices = [];
    return Buffer.concat([front, ...slices], front.length + this.#held);
  }

  /** Gives the octets back to the budget. May be called more than once. */
  release(): void {
    for (const budget of this.budgets) budget.used -= this.#held;
    this.#held = 0;
    this.#slices = [];
  }
}

/** Merges from the end as long as the slice before is not larger than what was merged so far. */
function mergeTail(slices: Buffer[]): Buffer[] {
  let from = slices.length - 1;
  let bytes = slices[from]!.length;
  while (from > 0 && slices[from - 1]!.length <= bytes) {
    from -= 1;
    bytes += slices[from]!.length;
  }
  if (from === slices.length - 1) {
    // Sizes fall from slice to slice: merge the smaller half.
    from = slices.length >> 1;
  }
  return [...slices.slice(0, from), Buffer.concat(slices.slice(from))];
}
