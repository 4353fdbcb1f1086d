import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { touchApiKeys } from './credential-store';

const INTERVAL_MS = 60_000;
const BATCH_MS = 50;
const REMEMBERED = 10_000;

interface Use {
  organizationId: string;
  keyId: string;
  at: string;
}

/** Writes `last_used_at` aside from the requests: at most once a minute per key and in batches. */
export class LastUsedRecorder {
  private readonly writtenAt = new Map<string, number>();
  private pending: Use[] = [];
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly onError: (error: unknown) => void,
  ) {}

  touch(organizationId: string, keyId: string): void {
    const now = this.clock();
    const before = this.writtenAt.get(keyId);
    if (before !== undefined && now - before < INTERVAL_MS) return;
    if (before === undefined && this.writtenAt.size >= REMEMBERED) this.writtenAt.clear();
    this.writtenAt.set(keyId, now);
    this.pending.push({ organizationId, keyId, at: new Date(now).toISOString() });
    this.timer ??= setTimeout(() => void this.flush(), BATCH_MS);
  }

  /** Also before a list of keys is read, so that it shows the latest use. */
  async flush(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const uses = this.pending;
    if (uses.length === 0) return;
    this.pending = [];
    try {
      await touchApiKeys(this.database, uses);
    } catch (error) {
      for (const use of uses) this.writtenAt.delete(use.keyId);
      this.onError(error);
    }
  }
}
