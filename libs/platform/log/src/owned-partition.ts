import type { LogRecord } from './log';
import type { PartitionClaim } from './consumer-store';

const HOUR_MS = 3_600_000;

/** What a member knows about a partition it holds. */
export class OwnedPartition implements PartitionClaim {
  readonly topic: string;
  readonly part: number;
  readonly epoch: number;
  readonly name: string;
  /** The next offset to fetch. */
  position: number;
  /** A lower bound of the time of what comes next. Clocks may step back by less than an hour. */
  since = 0;
  draining = false;
  readonly #abort = new AbortController();
  /** Fetched and not all finished; offsets in order, as the batch may have holes where retention cut. */
  #offsets: readonly number[] = [];
  readonly #finished = new Set<number>();
  /** How many of `#offsets` are finished without a gap. */
  #prefix = 0;
  #done: number;
  #committed: number;
  #busy = false;
  #idleListeners: (() => void)[] = [];

  constructor(claim: PartitionClaim & { offset: number }) {
    this.topic = claim.topic;
    this.part = claim.part;
    this.epoch = claim.epoch;
    this.name = `${claim.topic}/${claim.part}`;
    this.position = claim.offset;
    this.#done = claim.offset;
    this.#committed = claim.offset;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get ready(): boolean {
    return !this.#busy && !this.draining;
  }

  /** Everything before this offset is finished. */
  get done(): number {
    return this.#done;
  }

  get uncommitted(): boolean {
    return this.#done > this.#committed;
  }

  /** All records of the batch are finished. */
  get complete(): boolean {
    return this.#prefix === this.#offsets.length;
  }

  begin(records: readonly LogRecord[]): void {
    const last = records[records.length - 1]!;
    this.#busy = true;
    this.#offsets = records.map(({ offset }) => offset);
    this.#finished.clear();
    this.#prefix = 0;
    this.position = last.offset + 1;
    this.since = last.publishedAt - HOUR_MS;
  }

  finish(offset: number): void {
    this.#finished.add(offset);
    while (
      this.#prefix < this.#offsets.length &&
      this.#finished.has(this.#offsets[this.#prefix]!)
    ) {
      this.#done = this.#offsets[this.#prefix]! + 1;
      this.#prefix += 1;
    }
  }

  end(): void {
    this.#busy = false;
    // What was left behind is read again.
    this.position = this.#done;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Reading continues elsewhere: retention dropped the next records, or the log was recreated. */
  moveTo(offset: number): void {
    if (this.#busy) return;
    this.position = offset;
    this.#done = offset;
    this.#committed = Math.min(this.#committed, offset - 1);
  }

  committed(offset: number): void {
    this.#committed = Math.max(this.#committed, offset);
  }

  /** No handler starts any more; running ones may end. */
  drain(): void {
    this.draining = true;
  }

  giveUp(): void {
    this.draining = true;
    this.#abort.abort();
  }

  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }
}
