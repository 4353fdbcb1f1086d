import type { Clock } from '@dak/kernel';
import type { Consumption, SharedState } from './shared-state';
import { takeTokens } from './token-bucket';

export interface MemorySharedStateOptions {
  clock?: Clock;
  /** Entries at most; beyond it the oldest go first. @default 200000 */
  maxEntries?: number;
  /** How often expired entries are removed. @default 10000 */
  sweepMs?: number;
}

interface Entry {
  value: string;
  expiresAt: number;
}

/** Goes on evenly when the clock of the machine is set: a step back must not refuse whoever comes for an hour. */
const steadyClock: Clock = () => performance.timeOrigin + performance.now();

/** For a single process. Bounded in number and in time: whatever expired is swept away. */
export class MemorySharedState implements SharedState {
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Map<string, Set<(message: string) => void>>();
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: MemorySharedStateOptions = {}) {
    this.#clock = options.clock ?? steadyClock;
    this.#maxEntries = options.maxEntries ?? 200_000;
    this.#sweeper = setInterval(() => this.sweep(), options.sweepMs ?? 10_000).unref();
  }

  get size(): number {
    return this.#entries.size;
  }

  async get(key: string): Promise<string | null> {
    return this.#read(`value:${key}`);
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#write(`value:${key}`, value, ttlMs);
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(`value:${key}`);
  }

  async setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean> {
    if (this.#read(`value:${key}`) !== null) return false;
    this.#write(`value:${key}`, value, ttlMs);
    return true;
  }

  async consume(key: string, limit: number, windowMs: number, cost = 1): Promise<Consumption> {
    const now = this.#clock();
    const stored = this.#read(`bucket:${key}`);
    const before = stored === null ? null : Number(stored);
    const { fullAt, ...consumption } = takeTokens(before, now, limit, windowMs, cost);
    if (fullAt > now) this.#write(`bucket:${key}`, String(fullAt), Math.ceil(fullAt - now));
    else this.#entries.delete(`bucket:${key}`);
    return consumption;
  }

  async acquire(lease: string, token: string, ttlMs: number): Promise<boolean> {
    const holder = this.#read(`lease:${lease}`);
    if (holder !== null && holder !== token) return false;
    this.#write(`lease:${lease}`, token, ttlMs);
    return true;
  }

  async extend(lease: string, token: string, ttlMs: number): Promise<boolean> {
    if (this.#read(`lease:${lease}`) !== token) return false;
    this.#write(`lease:${lease}`, token, ttlMs);
    return true;
  }

  async release(lease: string, token: string): Promise<boolean> {
    return this.#read(`lease:${lease}`) === token && this.#entries.delete(`lease:${lease}`);
  }

  async publish(channel: string, message: string): Promise<void> {
    for (const listener of this.#listeners.get(channel) ?? []) {
      // After the publisher went on, as with a remote store; an error in one listener is its own.
      setImmediate(() => {
        if (this.#listeners.get(channel)?.has(listener)) listener(message);
      });
    }
  }

  async subscribe(
    channel: string,
    listener: (message: string) => void,
  ): Promise<() => Promise<void>> {
    // A wrapper per call: the same function may subscribe twice and leave once.
    const own = (message: string): void => listener(message);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(own));
    return async () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) {
        this.#listeners.delete(channel);
      }
    };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#entries.clear();
    this.#listeners.clear();
  }

  sweep(): void {
    const now = this.#clock();
    for (const [key, entry] of this.#entries) {
      if (entry.expiresAt <= now) this.#entries.delete(key);
    }
  }

  #read(key: string): string | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (entry.expiresAt > this.#clock()) return entry.value;
    this.#entries.delete(key);
    return null;
  }

  #write(key: string, value: string, ttlMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: this.#clock() + ttlMs });
    while (this.#entries.size > this.#maxEntries) {
      const oldest = this.#entries.keys().next().value;
      if (oldest === undefined) return;
      this.#entries.delete(oldest);
    }
  }
}
