import { PrismaPg } from '@prisma/adapter-pg';
import { InvalidError, isUuid } from '@dak/kernel';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { type Prisma, PrismaClient } from '../generated/prisma/client';

/** One transaction held to one tenant: `db` for ordinary records, `query` for SQL beside them (times arrive as Date there). */
export interface TenantRecords extends SqlExecutor {
  readonly db: Prisma.TransactionClient;
}

/** Runs work on the records of one tenant; row-level security holds for every statement. */
export type WithTenant = <T>(
  organizationId: string,
  work: (tx: TenantRecords) => Promise<T>,
) => Promise<T>;

const WAIT_MS = 5_000;
const DURATION_MS = 15_000;

/** Prisma over the connections of `database`; nothing of its own to close. */
export function createWithTenant(database: Database): WithTenant {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) });
  return (organizationId, work) => {
    if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
    return database.whileHere(() =>
      prisma.$transaction(
        async (db) => {
          await db.$queryRaw`select set_config('dak.organization_id', ${organizationId}, true)`;
          return work({ db, query: (text, values) => queryWith(db, text, values) });
        },
        { maxWait: WAIT_MS, timeout: DURATION_MS },
      ),
    );
  };
}

async function queryWith<Row>(
  db: Prisma.TransactionClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<{ rows: Row[]; rowCount: number }> {
  const rows = await db.$queryRawUnsafe<Row[]>(text, ...values);
  return { rows, rowCount: rows.length };
}
