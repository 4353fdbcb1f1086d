import { Models, type Database, type ModelTransaction } from '@dak/platform/postgres';
import { type Prisma, PrismaClient } from '../generated/prisma/client';

/** One transaction held to one tenant: `db` for ordinary records, `query` for SQL beside them. */
export type MailTransaction = ModelTransaction<Prisma.TransactionClient>;
export type MailModels = Models<Prisma.TransactionClient>;

export function createModels(database: Database): MailModels {
  return new Models(database, (adapter) => new PrismaClient({ adapter }));
}
