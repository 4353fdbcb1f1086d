import type { GatewayStore } from '../database/gateway-store';

/** What the services have to know of an organization. */
export interface OrganizationState {
  organizationId: string;
  name: string;
  status: string;
  timeZone: string;
  defaultFromName: string | null;
}

export type AnnounceOrganization = (state: OrganizationState) => Promise<void>;

const RETRY_MS = 5_000;
/** How long the caller of a change waits for the services to hear of it. */
const PATIENCE_MS = 2_000;

const PENDING = `
  select id                as "organizationId",
         name, status, version,
         time_zone         as "timeZone",
         default_from_name as "defaultFromName"
    from organization
   where announced_version <> version
     and ($1::uuid is null or id = $1)
   order by id
   limit 100`;

const ANNOUNCED = `
  update organization
     set announced_version = $2
   where id = $1
     and announced_version < $2`;

/**
 * Tells the services about organizations: at once after a change, and again until they have heard.
 * What is left to tell is in the rows themselves, so a crash between the change and the call loses nothing.
 */
export class OrganizationAnnouncer {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: GatewayStore,
    private readonly announce: AnnounceOrganization,
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

  /** Of one organization, or of all that are left (null). Never rejects: what fails is tried again. */
  announcePending(organizationId: string | null): Promise<void> {
    this.running = this.running
      .then(() => this.run(organizationId))
      .catch((error: unknown) => this.onError(error));
    return this.running;
  }

  /** As {@link announcePending} for one organization, but waits {@link PATIENCE_MS} at most. */
  async announceSoon(organizationId: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.announcePending(organizationId), patience]);
    clearTimeout(timer);
  }

  private async run(organizationId: string | null): Promise<void> {
    const { database } = this.store;
    const rows = await database.asWorker(
      async (tx) =>
        (await tx.query<OrganizationState & { version: number }>(PENDING, [organizationId])).rows,
    );
    for (const { version, ...state } of rows) {
      try {
        await this.announce(state);
        await database.asWorker((tx) => tx.query(ANNOUNCED, [state.organizationId, version]));
      } catch (error) {
        // The others must not wait for the one that fails.
        this.onError(error);
      }
    }
  }
}
