import {
  CreateEntry,
  MAX_ENTRIES,
  type CreateEntryRequest,
  type EntryRecord,
} from '@dak/contracts/ledger';
import type { Document } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import { ConflictError, uuidv7, type Clock } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { Models } from '@dak/platform/postgres';
import type { Prisma } from '../generated/prisma/client';
import { countEntries, insertEntry } from './entry-store';

export interface EntryDeps {
  models: Models<Prisma.TransactionClient>;
  clock: Clock;
}

/** @throws ConflictError when the organization has as many as it may have */
export function createEntry(
  { models, clock }: EntryDeps,
  request: CreateEntryRequest,
  context: CallContext,
): Promise<Document> {
  const { title, amount } = parseRequest(CreateEntry, request);
  const { organizationId } = context.principal;
  return models.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      if ((await countEntries(tx, organizationId)) >= MAX_ENTRIES) {
        throw new ConflictError(`The organization has ${MAX_ENTRIES} entries.`);
      }
      const id = uuidv7(clock());
      const createdAt = new Date(clock());
      await insertEntry(tx, { organizationId, id, title, amount: BigInt(amount), createdAt });
      await noteAudit(tx, context, { action: 'entry.created', target: { type: 'entry', id } });
      const record: EntryRecord = { id, title, amount, created_at: createdAt.toISOString() };
      return { id, version: 0, json: jsonBytes(record), replayed: false };
    }),
  );
}
