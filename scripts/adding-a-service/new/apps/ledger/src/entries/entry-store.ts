import type { ModelTransaction } from '@dak/platform/postgres';
import type { Entry, Prisma } from '../generated/prisma/client';

export type LedgerTransaction = ModelTransaction<Prisma.TransactionClient>;

export function countEntries(tx: LedgerTransaction, organizationId: string): Promise<number> {
  return tx.db.entry.count({ where: { organizationId } });
}

export async function insertEntry(tx: LedgerTransaction, entry: Entry): Promise<void> {
  await tx.db.entry.create({ data: entry });
}
