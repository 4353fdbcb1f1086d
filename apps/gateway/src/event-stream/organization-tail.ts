import { HIGH_WATER, type EventStream } from './event-stream';
import type { PlacedItem } from './feed-item';

export interface TailDeps {
  /** Items of the organization after a position, in order. */
  read(after: number, limit: number): Promise<readonly PlacedItem[]>;
  /** Closes streams whose credential is no longer valid, then sends each the items it may read. */
  dispatch(items: readonly PlacedItem[], streams: readonly EventStream[]): Promise<void>;
  /** The stream's next items are gone, up to this position. */
  onGap(stream: EventStream, upTo: number): Promise<void>;
  /** The stream reads more slowly than events come, and has to be joined again. */
  onBehind(stream: EventStream): void;
  onError(error: unknown): void;
}

const PAGE = 500;
const RETRY_MS = 500;

/**
 * The end of one organization's feed, read once for all of its streams. A stream first catches up on
 * its own and rejoins at the position being read here, so that it gets each item once.
 */
export class OrganizationTail {
  readonly streams = new Set<EventStream>();
  private joiners: { stream: EventStream; answer: (joined: boolean) => void }[] = [];
  private isReading = false;
  private isBehind = false;
  private stopped = false;

  constructor(
    private readonly deps: TailDeps,
    private position: number,
  ) {}

  /** There may be items after the last one. */
  wake(): void {
    this.isBehind = true;
    if (!this.isReading && !this.stopped) void this.follow();
  }

  /** Whether the feed has items not read here yet. */
  isShortOf(head: number): boolean {
    return head > this.position;
  }

  stop(): void {
    this.stopped = true;
    this.admit();
  }

  /** Brings a stream up to now and keeps it there until it ends. */
  async join(stream: EventStream): Promise<void> {
    while (stream.isOpen && !this.stopped) {
      if (stream.position >= this.position && (await this.tryJoin(stream))) return;
      await stream.room();
      if (!stream.isOpen) return;
      const known = this.position;
      const items = await this.deps.read(stream.position, PAGE);
      const first = items[0]?.position;
      // The tail has read these items, so an empty result means they are gone.
      if (first === undefined && stream.position < known) await this.deps.onGap(stream, known);
      if (first !== undefined && first > stream.position + 1) {
        await this.deps.onGap(stream, first - 1);
      }
      for (const piece of inPieces(items, HIGH_WATER)) {
        await stream.room();
        if (stream.isOpen) await this.deps.dispatch(piece, [stream]);
      }
    }
  }

  private tryJoin(stream: EventStream): Promise<boolean> {
    return new Promise((answer) => {
      this.joiners.push({ stream, answer });
      if (!this.isReading) this.admit();
    });
  }

  /** Between two batches only: a stream that joins gets every item after its position. */
  private admit(): void {
    const joiners = this.joiners;
    this.joiners = [];
    for (const { stream, answer } of joiners) {
      const joins = stream.isOpen && stream.position >= this.position && !this.stopped;
      if (joins) this.streams.add(stream);
      answer(joins);
    }
  }

  private async follow(): Promise<void> {
    this.isReading = true;
    while (this.isBehind && !this.stopped) {
      this.isBehind = false;
      try {
        while (await this.readOn());
      } catch (error) {
        this.deps.onError(error);
        this.isBehind = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    this.isReading = false;
    this.admit();
  }

  /** @returns whether there may be more */
  private async readOn(): Promise<boolean> {
    this.admit();
    const items = await this.deps.read(this.position, PAGE);
    const last = items.at(-1);
    if (last === undefined || this.stopped) return false;
    const streams = [...this.streams];
    const before = items[0]!.position - 1;
    for (const stream of streams) {
      // The position of the tail is not that of streams which are ahead of it.
      if (before > this.position && stream.position < before) await this.deps.onGap(stream, before);
    }
    await this.deps.dispatch(items, streams);
    this.position = last.position;
    for (const stream of streams) {
      if (stream.position >= last.position || !this.streams.delete(stream)) continue;
      if (stream.isOpen) this.deps.onBehind(stream);
    }
    return items.length === PAGE;
  }
}

/** As many items at once as have this many characters, at least one. */
function inPieces(items: readonly PlacedItem[], size: number): PlacedItem[][] {
  const pieces: PlacedItem[][] = [];
  let room = 0;
  for (const item of items) {
    if (room <= 0) {
      pieces.push([]);
      room = size;
    }
    pieces.at(-1)!.push(item);
    room -= item.body.length;
  }
  return pieces;
}
