import { PrismaPg } from '@prisma/adapter-pg';
import type { Registry } from 'prom-client';
import { InvalidError, isUuid, outageAsUnavailable } from '@dak/kernel';
import { Database, IDLE_IN_TRANSACTION_MS, type SqlExecutor } from '@dak/platform/postgres';
import { Prisma, PrismaClient } from '../generated/prisma/client';

/** One transaction held to one tenant: `db` for ordinary models, `query` for one-statement SQL beside it. */
export interface GatewayTransaction extends SqlExecutor {
  readonly db: Prisma.TransactionClient;
}

const PRISMA_CONNECTIONS = 4;
const WAIT_MS = 5_000;
const DURATION_MS = 15_000;

/** The database `dak_gateway`: Prisma for ordinary models, prepared SQL for what every request needs. */
export class GatewayStore {
  readonly database: Database;
  private readonly prisma: PrismaClient;

  constructor(url: string, metrics?: Registry) {
    this.database = new Database({
      url,
      maxConnections: 4,
      applicationName: 'dak-gateway',
      ...(metrics === undefined ? {} : { metrics }),
    });
    this.prisma = new PrismaClient({
      adapter: new PrismaPg({
        connectionString: url,
        max: PRISMA_CONNECTIONS,
        application_name: 'dak-gateway-models',
        options: `-c timezone=UTC -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS} -c statement_timeout=30000`,
      }),
    });
  }

  inTenant<T>(organizationId: string, work: (tx: GatewayTransaction) => Promise<T>): Promise<T> {
    return this.transaction(organizationId, 'off', work);
  }

  /** Of platform administration and of login, where the tenant is found by the way: sees all tenants, writes the audit log of one. */
  acrossTenants<T>(
    organizationId: string,
    work: (tx: GatewayTransaction) => Promise<T>,
  ): Promise<T> {
    return this.transaction(organizationId, 'on', work);
  }

  /** Octets of the database on its disk. */
  async size(): Promise<number> {
    const { rows } = await this.database.pool.query<{ bytes: number }>(
      'select pg_database_size(current_database())::float8 as bytes',
    );
    return rows[0]!.bytes;
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.database.close();
  }

  private async transaction<T>(
    organizationId: string,
    worker: 'on' | 'off',
    work: (tx: GatewayTransaction) => Promise<T>,
  ): Promise<T> {
    if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
    try {
      return await this.database.whileHere(() =>
        this.prisma.$transaction(
          async (db) => {
            await db.$queryRaw`
              select set_config('dak.organization_id', ${organizationId}, true),
                     set_config('dak.worker', ${worker}, true)`;
            return work({ db, query: (text, values) => queryWith(db, text, values) });
          },
          { maxWait: WAIT_MS, timeout: DURATION_MS },
        ),
      );
    } catch (error) {
      throw outageAsUnavailable(
        error,
        'The database is not available or too busy. Try again in a moment.',
      );
    }
  }
}

async function queryWith<Row>(
  db: Prisma.TransactionClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<{ rows: Row[]; rowCount: number }> {
  const rows = await db.$queryRawUnsafe<Row[]>(text, ...values);
  return { rows, rowCount: rows.length };
}

/** True when a unique constraint refused the row. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
