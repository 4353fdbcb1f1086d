import type { Pool } from 'undici';
import type { Target } from './allowance';

export interface OriginPoolsOptions {
  /** Pools kept at most; the one unused for longest makes room. */
  most: number;
  /** Milliseconds without a request after which a pool is closed. */
  idleMs: number;
  open: (origin: string, target: Target) => Pool;
}

/** A connection pool per origin, bounded in number, closed when idle. */
export class OriginPools {
  /** In the order of use, oldest first. */
  private readonly pools = new Map<string, { pool: Pool; usedAt: number }>();
  private readonly sweep: NodeJS.Timeout;

  constructor(private readonly options: OriginPoolsOptions) {
    this.sweep = setInterval(() => this.closeIdle(), Math.ceil(options.idleMs / 2)).unref();
  }

  take(origin: string, target: Target): Pool {
    const known = this.pools.get(origin);
    this.pools.delete(origin);
    const pool = known?.pool ?? this.options.open(origin, target);
    this.pools.set(origin, { pool, usedAt: performance.now() });
    const [oldest] = this.pools;
    if (this.pools.size > this.options.most && oldest !== undefined) this.retire(...oldest);
    return pool;
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  private closeIdle(): void {
    const before = performance.now() - this.options.idleMs;
    for (const [origin, entry] of this.pools) {
      if (entry.usedAt >= before) return;
      this.retire(origin, entry);
    }
  }

  /** Requests under way still end in peace: closing waits for them. */
  private retire(origin: string, { pool }: { pool: Pool }): void {
    this.pools.delete(origin);
    pool.close().catch(() => undefined);
  }
}
