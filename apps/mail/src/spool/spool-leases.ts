import type { Database } from '@dak/platform/postgres';
import { releaseSpoolEntries, renewSpoolLeases, type ClaimedEntry } from './spool-store';

export interface SpoolLeases {
  /** Claimed and being worked on. @returns those that were not so already: a lease may have run out under us */
  hold(entries: readonly ClaimedEntry[]): ClaimedEntry[];
  /** Stored, or put off: the row is no longer ours. */
  letGo(entries: readonly { readonly id: string }[]): void;
  /** To be given back untried: at once, or as soon as the database answers again. */
  giveBack(entries: readonly ClaimedEntry[]): Promise<void>;
  /** Gives back what could not be given back before. @throws while the database is away */
  settle(): Promise<void>;
  stop(): void;
}

/**
 * Keeps the leases of what this process works on. They are short, so that the mail of a process that died,
 * and of a claim whose answer was lost with the connection, is soon taken up by others; a batch that takes
 * longer has its lease renewed.
 */
export function createSpoolLeases(
  database: Database,
  owner: () => string,
  leaseSeconds: number,
): SpoolLeases {
  const held = new Map<string, { entry: ClaimedEntry; since: number }>();
  let owed: readonly ClaimedEntry[] = [];
  let isRenewing = false;
  const renewMs = (leaseSeconds * 1000) / 3;

  const renew = async () => {
    const now = performance.now();
    const due = [...held.values()].filter(({ since }) => now - since >= renewMs * 0.9);
    if (due.length === 0 || isRenewing) return;
    isRenewing = true;
    const entries = due.map(({ entry }) => entry);
    try {
      await database.asWorker((tx) => renewSpoolLeases(tx, owner(), entries, leaseSeconds));
      for (const item of due) item.since = now;
    } catch {
      // The database is unavailable: the workers will find out, and the leases expire on their own.
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => void renew(), renewMs);
  timer.unref();

  const settle = async () => {
    if (owed.length === 0) return;
    const due = owed;
    await database.asWorker((tx) => releaseSpoolEntries(tx, owner(), due));
    owed = owed.filter((entry) => !due.includes(entry));
  };

  return {
    hold(entries) {
      const fresh = entries.filter(({ id }) => !held.has(id));
      const since = performance.now();
      for (const entry of fresh) held.set(entry.id, { entry, since });
      return fresh;
    },
    letGo(entries) {
      for (const { id } of entries) held.delete(id);
    },
    async giveBack(entries) {
      if (entries.length === 0) return;
      for (const { id } of entries) held.delete(id);
      owed = [...owed, ...entries];
      await settle().catch(() => undefined);
    },
    settle,
    stop: () => clearInterval(timer),
  };
}
