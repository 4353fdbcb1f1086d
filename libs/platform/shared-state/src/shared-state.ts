/**
 * State that several replicas share and that may be lost without harm: durable truth is PostgreSQL.
 * Two drivers, memory (one process) and Redis, pass one contract suite.
 */
export interface SharedState {
  get(key: string): Promise<string | null>;
  /** `ttlMs` is required: nothing here lives forever. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Stores only if absent, atomically; true when it was stored. */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean>;
  /**
   * Atomic fixed-capacity token bucket: takes one of `limit` tokens that refill over `windowMs`.
   * @param cost 0 only looks; a negative one gives tokens back, at most up to a full bucket. @default 1
   */
  consume(key: string, limit: number, windowMs: number, cost?: number): Promise<Consumption>;
  /** A lease held under `token`; `acquire` is true for the current holder as well. */
  acquire(lease: string, token: string, ttlMs: number): Promise<boolean>;
  extend(lease: string, token: string, ttlMs: number): Promise<boolean>;
  release(lease: string, token: string): Promise<boolean>;
  /** Fire-and-forget to every replica, the publisher included. */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Rejects when the store cannot be reached; what `/readyz` asks. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Consumption {
  allowed: boolean;
  remaining: number;
  /** Milliseconds until the bucket is full again. */
  resetMs: number;
  /** Milliseconds until the refused cost would be allowed; 0 when allowed. */
  retryAfterMs: number;
}
