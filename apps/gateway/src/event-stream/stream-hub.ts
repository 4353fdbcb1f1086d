import { DomainError, UnavailableError, type Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { Authenticator, KnownCredential } from '../http/authenticator';
import { EventStream, type StreamFilter } from './event-stream';
import type { PlacedItem } from './feed-item';
import { findOldest, findPosition, readHeads, readItems, wantFeed } from './feed-store';
import { findItemAccess } from './item-readers';
import { OrganizationTail } from './organization-tail';
import { parsePlace, sealPlace } from './stream-place';

export interface StreamLimits {
  /** Streams of one credential on one replica. */
  readonly perCredential: number;
  /** Octets that may wait in a stream. */
  readonly maxWaitingBytes: number;
  /** Milliseconds after which a client that reads nothing is given up. */
  readonly stallMs: number;
  readonly heartbeatMs: number;
  /** How often credentials are checked while there are no events. */
  readonly credentialCheckMs: number;
  /** How often the feed is checked for rows of other replicas. */
  readonly pollMs: number;
  readonly lingerMs: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  perCredential: 10,
  maxWaitingBytes: 256 * 1024,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  credentialCheckMs: 2_000,
  pollMs: 100,
  lingerMs: 10_000,
};

/** How often the feeds of open streams are said to be wanted. */
const STILL_WANTED_MS = 15 * 60_000;

export interface StreamHubDeps {
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly visibility: VisibilityClient;
  /** 32 bytes, the same on every replica. */
  readonly placeKey: Uint8Array;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  readonly limits: StreamLimits;
}

export interface StreamRequest {
  readonly credential: string;
  readonly known: KnownCredential;
  readonly filter: StreamFilter;
  readonly lastEventId: string | null;
  /** Milliseconds from when it has caught up; null: it stays open. */
  readonly endAfterMs: number | null;
}

/** All streams of this replica. They read from the feed, whichever replica wrote it. */
export class StreamHub {
  private readonly tails = new Map<string, OrganizationTail>();
  private readonly streams = new Map<EventStream, string>();
  private timers: NodeJS.Timeout[] = [];
  private isPolling = false;
  private isClosing = false;

  constructor(private readonly deps: StreamHubDeps) {}

  /**
   * Every event that is recorded after this resolves reaches the stream, if its filter and its
   * caller's rights let it; with `lastEventId` every one after that.
   * @throws DomainError rate_limited `too_many_streams`, UnavailableError while closing
   */
  async open(request: StreamRequest): Promise<EventStream> {
    const { deps } = this;
    const { principal } = request.known;
    const { organizationId } = principal;
    this.assertRoom(principal.credentialId);
    const { head, isComplete } = await wantFeed(deps.database, organizationId);
    const resumed =
      isComplete || request.lastEventId === null
        ? await this.positionAfter(request.lastEventId, organizationId, head)
        : null;
    this.assertRoom(principal.credentialId);
    const now = deps.clock();
    const stream = new EventStream({
      credential: request.credential,
      known: request.known,
      filter: request.filter,
      position: resumed ?? head,
      now,
      maxWaitingBytes: deps.limits.maxWaitingBytes,
      stallMs: deps.limits.stallMs,
      lingerMs: deps.limits.lingerMs,
    });
    this.streams.set(stream, organizationId);
    stream.readable.once('close', () => this.remove(stream, organizationId));
    this.startTimers();
    if (resumed === null && request.lastEventId !== null) await this.tellReset(stream);
    stream.markPlace(now, (position) => this.seal(organizationId, position));
    void this.follow(stream, organizationId, head).then(() => endLater(stream, request.endAfterMs));
    return stream;
  }

  /** The feeds of these organizations have grown. */
  wake(organizationIds: Iterable<string>): void {
    for (const id of organizationIds) this.tails.get(id)?.wake();
  }

  /** Ends every stream with a word; its client finds another replica. */
  close(): void {
    this.isClosing = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const tail of this.tails.values()) tail.stop();
    for (const stream of this.streams.keys()) {
      stream.end('close', {
        reason: 'stopping',
        message: 'This server stops. Connect again with Last-Event-ID to go on.',
      });
    }
  }

  private assertRoom(credentialId: string): void {
    if (this.isClosing) throw new UnavailableError('This server is stopping. Connect again.');
    let count = 0;
    for (const { principal } of this.streams.keys()) {
      if (principal.credentialId === credentialId) count += 1;
    }
    if (count < this.deps.limits.perCredential) return;
    throw new DomainError(
      'rate_limited',
      'too_many_streams',
      `This credential has ${count} event streams open, which is the limit. Close one, or share one.`,
      { retryAfterSeconds: 5 },
    );
  }

  /** null if the position is unknown, or events after it are gone. */
  private async positionAfter(
    lastEventId: string | null,
    organizationId: string,
    head: number,
  ): Promise<number | null> {
    if (lastEventId === null) return head;
    const { database, placeKey, clock } = this.deps;
    const place = parsePlace(lastEventId, organizationId, placeKey, clock());
    switch (place.kind) {
      case 'event':
        return findPosition(database, organizationId, place.eventId);
      case 'position': {
        if (place.position >= head) return place.position === head ? head : null;
        const oldest = await findOldest(database, organizationId);
        return oldest !== null && oldest.position <= place.position + 1 ? place.position : null;
      }
      case 'unknown':
        return null;
    }
  }

  private async follow(stream: EventStream, organizationId: string, head: number): Promise<void> {
    while (stream.isOpen && !this.isClosing) {
      try {
        const tail = this.tailOf(organizationId, head);
        // The feed may have grown since its head was read.
        tail.wake();
        return await tail.join(stream);
      } catch (error) {
        this.deps.onError(error);
        await new Promise((resolve) => setTimeout(resolve, 500).unref());
      }
    }
  }

  private tailOf(organizationId: string, head: number): OrganizationTail {
    const known = this.tails.get(organizationId);
    if (known !== undefined) return known;
    const { database, onError } = this.deps;
    const tail = new OrganizationTail(
      {
        read: (after, limit) => readItems(database, organizationId, after, limit),
        dispatch: (items, streams) => this.dispatch(items, streams),
        onGap: (stream, upTo) => this.skipGap(stream, upTo),
        onBehind: (stream) => void this.follow(stream, organizationId, stream.position),
        onError,
      },
      head,
    );
    this.tails.set(organizationId, tail);
    return tail;
  }

  private remove(stream: EventStream, organizationId: string): void {
    this.streams.delete(stream);
    const isLast = ![...this.streams.values()].includes(organizationId);
    const tail = this.tails.get(organizationId);
    tail?.streams.delete(stream);
    if (isLast) {
      tail?.stop();
      this.tails.delete(organizationId);
    }
    if (this.streams.size > 0) return;
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
  }

  private async dispatch(
    items: readonly PlacedItem[],
    streams: readonly EventStream[],
  ): Promise<void> {
    const { clock, visibility } = this.deps;
    // After reading the items, so that a credential revoked before they were recorded never receives them.
    await this.checkCredentials(streams);
    const open = streams.filter((stream) => stream.isOpen);
    const wanted = items.filter((item) => open.some((stream) => stream.wants(item)));
    const principals = open.map(({ principal }) => principal);
    const mayRead = await findItemAccess(visibility, wanted, principals);
    const now = clock();
    for (const stream of open) {
      const { principal } = stream;
      stream.deliver(items, (item) => mayRead(item, principal), now);
    }
  }

  /**
   * Closes streams whose credential is no longer valid, and refreshes the permissions of the rest.
   * @throws when that cannot be found out; then nothing must be shown
   */
  private async checkCredentials(streams: readonly EventStream[]): Promise<void> {
    const { authenticator } = this.deps;
    const checked = new Map<string, Promise<KnownCredential | DomainError>>();
    const check = async ({ credential, known }: EventStream) => {
      try {
        return (await authenticator.isCurrent(known))
          ? known
          : await authenticator.resolve(credential);
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unauthenticated') return error;
        throw error;
      }
    };
    await Promise.all(
      streams.map(async (stream) => {
        let result = checked.get(stream.credential);
        if (result === undefined) {
          result = check(stream);
          checked.set(stream.credential, result);
        }
        const outcome = await result;
        if (outcome instanceof DomainError) {
          stream.end('unauthorized', { reason: outcome.code, message: outcome.message });
        } else if (!outcome.principal.scopes.includes('mail.read')) {
          stream.end('unauthorized', {
            reason: 'missing_scope',
            message: 'The credential no longer has the scope mail.read.',
          });
        } else {
          stream.known = outcome;
        }
      }),
    );
  }

  private async skipGap(stream: EventStream, upTo: number): Promise<void> {
    await this.tellReset(stream);
    stream.position = Math.max(stream.position, upTo);
  }

  private async tellReset(stream: EventStream): Promise<void> {
    const { database, clock } = this.deps;
    const oldest = await findOldest(database, stream.principal.organizationId);
    stream.reset(
      {
        reason: 'history_gone',
        oldest_kept_at: oldest?.recordedAt ?? null,
        message:
          'Events before the next one here are not kept any more, or the given Last-Event-ID is not known. Read through the API what you need; this stream goes on with what is kept.',
      },
      clock(),
    );
  }

  private seal(organizationId: string, position: number): string {
    return sealPlace(organizationId, position, this.deps.placeKey, this.deps.clock());
  }

  private startTimers(): void {
    if (this.timers.length > 0 || this.isClosing) return;
    const { limits, clock, onError } = this.deps;
    const every = (ms: number, work: () => void): NodeJS.Timeout => setInterval(work, ms).unref();
    this.timers = [
      every(limits.pollMs, () => void this.poll()),
      every(limits.credentialCheckMs, () => {
        this.checkCredentials([...this.streams.keys()].filter(({ isOpen }) => isOpen)).catch(
          onError,
        );
      }),
      every(Math.min(1_000, limits.heartbeatMs), () => {
        const now = clock();
        for (const [stream, organizationId] of this.streams) {
          stream.beat(now, limits.heartbeatMs, (position) => this.seal(organizationId, position));
        }
      }),
      every(STILL_WANTED_MS, () => {
        const organizations = [...this.tails.keys()];
        Promise.all(organizations.map((id) => wantFeed(this.deps.database, id))).catch(onError);
      }),
    ];
  }

  /** Finds what other replicas wrote. */
  private async poll(): Promise<void> {
    if (this.isPolling) return;
    this.isPolling = true;
    try {
      const heads = await readHeads(this.deps.database, [...this.tails.keys()]);
      for (const [organizationId, head] of heads) {
        const tail = this.tails.get(organizationId);
        if (tail?.isShortOf(head) === true) tail.wake();
      }
    } catch (error) {
      this.deps.onError(error);
    } finally {
      this.isPolling = false;
    }
  }
}

function endLater(stream: EventStream, afterMs: number | null): void {
  if (afterMs === null) return;
  const end = (): void =>
    stream.end('close', {
      reason: 'time_over',
      message: 'The seconds that were asked for are over.',
    });
  if (afterMs === 0) return end();
  const timer = setTimeout(end, afterMs);
  stream.readable.once('close', () => clearTimeout(timer));
}
