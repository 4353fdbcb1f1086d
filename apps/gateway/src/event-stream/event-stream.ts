import { Readable } from 'node:stream';
import type { Principal } from '@dak/kernel';
import type { EventKind } from '@dak/contracts/events';
import type { KnownCredential } from '../http/authenticator';
import type { PlacedItem } from './feed-item';
import { HEARTBEAT, itemText, noticeText, placeText, PREAMBLE, type Notice } from './server-sent';

export interface StreamFilter {
  /** Empty: all. */
  readonly types: ReadonlySet<EventKind>;
  readonly mailboxId: string | null;
}

export interface EventStreamOptions {
  readonly credential: string;
  readonly known: KnownCredential;
  readonly filter: StreamFilter;
  /** The last position that the client has got or does not want. */
  readonly position: number;
  readonly now: number;
  /** Octets that may wait to be read. */
  readonly maxWaitingBytes: number;
  /** Milliseconds after which a client that reads nothing is given up. */
  readonly stallMs: number;
  /** Milliseconds in which a client may still read what waits once the stream has ended. */
  readonly lingerMs: number;
}

/** Octets that wait before catching up pauses, and that it then reads at once. */
export const HIGH_WATER = 64 * 1024;

/** One connection: its position, and the items waiting to be sent. */
export class EventStream {
  readonly credential: string;
  readonly filter: StreamFilter;
  /** Position up to which the client has received every item it may see. */
  position: number;
  known: KnownCredential;
  /** Anything with `pipe`; ends when the stream does. */
  readonly readable: Readable;
  private lastSentAt: number;
  private placeSent: number;
  /** Octets given to the connection, how many of them were read when it was last looked at, and when that grew. */
  private pushed = PREAMBLE.length;
  private readSoFar = 0;
  private readAt: number;
  private ended = false;
  private onRoom: (() => void)[] = [];

  constructor(private readonly options: EventStreamOptions) {
    this.credential = options.credential;
    this.filter = options.filter;
    this.position = options.position;
    this.known = options.known;
    this.lastSentAt = options.now;
    this.placeSent = -1;
    this.readAt = options.now;
    this.readable = new Readable({
      highWaterMark: HIGH_WATER,
      read: () => this.releaseRoom(),
      destroy: (error, done) => {
        this.ended = true;
        this.releaseRoom();
        done(error);
      },
    });
    this.readable.push(PREAMBLE);
  }

  get principal(): Principal {
    return this.known.principal;
  }

  get isOpen(): boolean {
    return !this.ended;
  }

  /**
   * Items in order, of which those before the stream's position are left out. Stops where too much
   * waits to be read; the position says how far it got.
   * @param isVisible whether the item may currently be read with the stream's credential
   */
  deliver(
    items: readonly PlacedItem[],
    isVisible: (item: PlacedItem) => boolean,
    now: number,
  ): void {
    for (const item of items) {
      if (this.ended) return;
      if (item.position <= this.position) continue;
      if (this.readable.readableLength > this.options.maxWaitingBytes) return;
      this.position = item.position;
      if (!this.wants(item) || !isVisible(item)) continue;
      this.send(itemText(item), now);
      this.placeSent = item.position;
    }
  }

  wants({ type, mailboxId }: PlacedItem): boolean {
    const { types, mailboxId: only } = this.filter;
    return (types.size === 0 || types.has(type)) && (only === null || only === mailboxId);
  }

  /** Notifies the client that events are missing before the next one. */
  reset(data: Readonly<Record<string, unknown>>, now: number): void {
    this.send(noticeText('reset', data), now);
  }

  /**
   * Keeps the connection alive, sends its position to a client that sees few events, and closes one that does
   * not read.
   */
  beat(now: number, intervalMs: number, sealPlace: (position: number) => string): void {
    if (this.ended) return;
    const read = this.pushed - this.readable.readableLength;
    if (read !== this.readSoFar || this.readable.readableLength === 0) {
      this.readSoFar = read;
      this.readAt = now;
    } else if (now - this.readAt > this.options.stallMs) {
      return this.end('close', {
        reason: 'slow_reader',
        message:
          'Events wait here and are not read. Connect again with Last-Event-ID to go on where this stream ends.',
      });
    }
    if (now - this.lastSentAt < intervalMs) return;
    if (this.placeSent !== this.position) this.markPlace(now, sealPlace);
    this.send(HEARTBEAT, now);
  }

  markPlace(now: number, sealPlace: (position: number) => string): void {
    this.placeSent = this.position;
    this.send(placeText(sealPlace(this.position)), now);
  }

  /** Says why, then ends; a client that does not read is cut off after a while. */
  end(notice: Notice, data: Readonly<Record<string, unknown>>): void {
    if (this.ended) return;
    this.readable.push(noticeText(notice, data));
    this.readable.push(null);
    this.ended = true;
    this.releaseRoom();
    const timer = setTimeout(() => this.readable.destroy(), this.options.lingerMs);
    this.readable.once('close', () => clearTimeout(timer));
  }

  /** Resolves when the client has read enough for more, or is gone. */
  async room(): Promise<void> {
    if (this.ended || this.readable.readableLength < HIGH_WATER) return;
    await new Promise<void>((resolve) => this.onRoom.push(resolve));
  }

  private send(text: string, now: number): void {
    if (this.ended) return;
    this.lastSentAt = now;
    this.pushed += Buffer.byteLength(text);
    this.readable.push(text);
  }

  private releaseRoom(): void {
    const waiting = this.onRoom;
    this.onRoom = [];
    for (const resolve of waiting) resolve();
  }
}
