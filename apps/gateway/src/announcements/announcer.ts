import type { CallOptions } from '@dak/platform/grpc';
import type { GatewayStore } from '../database/gateway-store';
import { tellEach, type TenantDirectory } from './tenant-directories';

/** What to announce, and how to record that a service has confirmed it. */
export interface Announcement<State> {
  /**
   * SQL of up to {@link ANNOUNCED_AT_ONCE} pending rows, each a `State` with its `version`;
   * `$1` narrows it to one organization, null = all.
   */
  pending: string;
  /** SQL that notes the version (last parameter) of one row, unless a later one is noted already. */
  announced: string;
  /** The parameters of `announced` before the version. */
  keyOf: (state: State) => readonly string[];
  announce: (directory: TenantDirectory, state: State, call: CallOptions) => Promise<unknown>;
}

export const ANNOUNCED_AT_ONCE = 100;
const RETRY_MS = 5_000;
/** How long the caller of a change waits for the services to hear of it. */
const PATIENCE_MS = 2_000;

/**
 * Announces changes to the services: immediately after a change, then repeatedly until they confirm.
 * The rows themselves record what is pending, so a crash between the change and the call loses nothing.
 */
export class Announcer<State extends object> {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: GatewayStore,
    private readonly announcement: Announcement<State>,
    private readonly directories: readonly TenantDirectory[],
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => void this.announcePending(null), RETRY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    await this.running;
  }

  /** Announces for one organization, or all pending (null). Never rejects: failures are retried. */
  announcePending(organizationId: string | null): Promise<void> {
    this.running = this.running
      .then(() => this.run(organizationId))
      .catch((error: unknown) => this.onError(error));
    return this.running;
  }

  /** As {@link announcePending}, but waits {@link PATIENCE_MS} at most. */
  async announceSoon(organizationId: string | null): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.announcePending(organizationId), patience]);
    clearTimeout(timer);
  }

  private async run(organizationId: string | null): Promise<void> {
    for (;;) {
      const { rows } = await this.store.database.asWorker((tx) =>
        tx.query<State & { version: number }>(this.announcement.pending, [organizationId]),
      );
      const heard = await Promise.all(rows.map((row) => this.tell(row)));
      if (rows.length < ANNOUNCED_AT_ONCE || heard.includes(false)) return;
    }
  }

  /** False when it failed; the others must not wait for the one that does. */
  private async tell(row: State & { version: number }): Promise<boolean> {
    const { announce, announced, keyOf } = this.announcement;
    try {
      await tellEach(this.directories, (directory, call) => announce(directory, row, call));
      await this.store.database.asWorker((tx) => tx.query(announced, [...keyOf(row), row.version]));
      return true;
    } catch (error) {
      this.onError(error);
      return false;
    }
  }
}
