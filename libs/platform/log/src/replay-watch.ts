import type { Pool } from 'pg';
import { classifyFailure, reasonOf } from './failure';
import type { ReplayResult } from './log';

export interface ReplayWatchOptions {
  pool: Pool;
  /** How the rows name a group. */
  storedGroup: (group: string) => string;
  onError: (error: unknown) => void;
}

interface Replayer {
  readonly group: string;
  replayParked(topic: string, key: string): Promise<ReplayResult>;
}

const EVERY_MS = 1_000;

const ASKED = `
  select group_name, topic, key
    from parked_key
   where group_name = any($1::text[]) and replay_asked_at is not null and replay_until < now()
   order by replay_asked_at
   limit 100`;

const FAILED = `
  update parked_key
     set replay_asked_at = null, replay_error = $4
   where group_name = $1 and topic = $2 and key = $3`;

/**
 * Carries out replays requested in the rows of parked keys: the requester has no
 * handlers, and any member of the group has. One question a second for all groups of the process.
 */
export class ReplayWatch {
  readonly #options: ReplayWatchOptions;
  readonly #members = new Set<Replayer>();
  /** Replays of this process that are under way, by group, topic and key. */
  readonly #running = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;

  constructor(options: ReplayWatchOptions) {
    this.#options = options;
  }

  /** @returns what ends it */
  add(member: Replayer): () => void {
    this.#members.add(member);
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS).unref();
    return () => this.#members.delete(member);
  }

  groups(): string[] {
    return [...new Set([...this.#members].map(({ group }) => group))];
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#members.clear();
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#members.size === 0) return;
    this.#looking = true;
    try {
      const { pool, storedGroup } = this.#options;
      const members = new Map([...this.#members].map((one) => [storedGroup(one.group), one]));
      const { rows } = await pool.query<{ group_name: string; topic: string; key: string }>(ASKED, [
        [...members.keys()],
      ]);
      for (const { group_name: stored, topic, key } of rows) {
        void this.#replay(members.get(stored)!, stored, topic, key);
      }
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#looking = false;
    }
  }

  async #replay(member: Replayer, stored: string, topic: string, key: string): Promise<void> {
    const name = JSON.stringify([stored, topic, key]);
    if (this.#running.has(name)) return;
    this.#running.add(name);
    try {
      await member.replayParked(topic, key);
    } catch (error) {
      await this.#note(error, [stored, topic, key]).catch(this.#options.onError);
    } finally {
      this.#running.delete(name);
    }
  }

  /** An outage leaves the request in place: the next check tries again. */
  async #note(error: unknown, place: string[]): Promise<void> {
    const { pool, onError } = this.#options;
    if ((error as { code?: unknown }).code === 'not_parked') return;
    onError(error);
    if (classifyFailure(error) === 'transient') return;
    await pool.query(FAILED, [...place, reasonOf(error).slice(0, 2_000)]);
  }
}
