import type { Registry } from 'prom-client';
import { Database, Models, type ModelTransaction } from '@dak/platform/postgres';
import { type Prisma, PrismaClient } from '../generated/prisma/client';

/** One transaction held to one tenant: `db` for ordinary models, `query` for SQL beside it. */
export type GatewayTransaction = ModelTransaction<Prisma.TransactionClient>;

/** The database `dak_gateway`: Prisma for ordinary models, prepared SQL for what every request needs. */
export class GatewayStore {
  readonly database: Database;
  private readonly models: Models<Prisma.TransactionClient>;

  constructor(url: string, metrics?: Registry) {
    this.database = new Database({
      url,
      maxConnections: 8,
      applicationName: 'dak-gateway',
      ...(metrics === undefined ? {} : { metrics }),
    });
    this.models = new Models(this.database, (adapter) => new PrismaClient({ adapter }));
  }

  inTenant<T>(organizationId: string, work: (tx: GatewayTransaction) => Promise<T>): Promise<T> {
    return this.models.inTenant(organizationId, work);
  }

  asWorker<T>(work: (tx: GatewayTransaction) => Promise<T>): Promise<T> {
    return this.models.asWorker(work);
  }

  /** For platform administration and login, where the tenant is not known yet: sees all tenants, writes the audit log of one. */
  acrossTenants<T>(
    organizationId: string,
    work: (tx: GatewayTransaction) => Promise<T>,
  ): Promise<T> {
    return this.models.asWorkerOf(organizationId, work);
  }

  /** Octets of the database on its disk. */
  async size(): Promise<number> {
    const { rows } = await this.database.pool.query<{ bytes: number }>(
      'select pg_database_size(current_database())::float8 as bytes',
    );
    return rows[0]!.bytes;
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
