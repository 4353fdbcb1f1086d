import type { Client } from 'undici';
import type { Target } from './allowance';

/** What takes a connection for a while. */
export interface Occupant {
  /** It was given up while it waited for a connection: it must not get one. */
  readonly isSettled: boolean;
  /** @param release to be called once; a connection is used again only if its reply ended as it should */
  occupy(connection: Client, release: (isReusable: boolean) => void): void;
}

export interface OriginPoolsOptions {
  /** Pools kept at most, one per tenant and origin; the one unused for longest makes room. */
  most: number;
  /** Connections of one tenant to one origin; further requests wait. */
  connectionsPerOrigin: number;
  /** Milliseconds without a request after which connections are closed. */
  idleMs: number;
  /** Makes what opens connections to one origin. */
  opener: (origin: string, target: Target) => () => Client;
}

/**
 * Keep-alive connections per tenant and origin, bounded in number, closed when idle. One undici `Client` per connection
 * instead of its `Pool`: that one makes a new connection for every request that is aborted, to a receiver that has
 * just misbehaved.
 */
export class OriginPools {
  /** In the order of use, oldest first. */
  private readonly pools = new Map<string, OriginPool>();
  private readonly sweep: NodeJS.Timeout;

  constructor(private readonly options: OriginPoolsOptions) {
    this.sweep = setInterval(() => this.closeIdle(), Math.ceil(options.idleMs / 2)).unref();
  }

  run(origin: string, target: Target, occupant: Occupant, tenant = ''): void {
    const key = `${tenant} ${origin}`;
    const pool =
      this.pools.get(key) ??
      new OriginPool(this.options.connectionsPerOrigin, this.options.opener(origin, target));
    this.pools.delete(key);
    this.pools.set(key, pool);
    const [oldest] = this.pools;
    if (this.pools.size > this.options.most && oldest !== undefined) this.retire(...oldest);
    pool.run(occupant);
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.all([...this.pools.values()].map((pool) => pool.close()));
    this.pools.clear();
  }

  private closeIdle(): void {
    const before = performance.now() - this.options.idleMs;
    for (const [key, pool] of this.pools) {
      if (pool.usedAt >= before) return;
      this.retire(key, pool);
    }
  }

  /** Requests under way still end in peace. */
  private retire(key: string, pool: OriginPool): void {
    this.pools.delete(key);
    void pool.close();
  }
}

class OriginPool {
  usedAt = 0;
  /** Used last, used first: the others become idle. */
  private readonly idle: Client[] = [];
  private readonly waiting: Occupant[] = [];
  private occupied = 0;
  private isClosed = false;

  constructor(
    private readonly most: number,
    private readonly open: () => Client,
  ) {}

  run(occupant: Occupant): void {
    this.usedAt = performance.now();
    if (this.occupied >= this.most) this.waiting.push(occupant);
    else this.start(occupant);
  }

  /** Resolves when the idle connections are closed; the others are when they are released. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.idle.splice(0).map((connection) => connection.destroy()));
  }

  private start(occupant: Occupant): void {
    const connection = this.idle.pop() ?? this.open();
    this.occupied += 1;
    occupant.occupy(connection, (isReusable) => {
      this.occupied -= 1;
      if (isReusable && !this.isClosed) this.idle.push(connection);
      else connection.destroy().catch(() => undefined);
      this.startNext();
    });
  }

  private startNext(): void {
    let next = this.waiting.shift();
    while (next?.isSettled === true) next = this.waiting.shift();
    if (next !== undefined) this.start(next);
  }
}
