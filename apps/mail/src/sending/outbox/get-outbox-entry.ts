import type { Document, GetOutboxEntryRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { selectDeliveries } from '../../conversations/messages/delivery-summary-store';
import { loadSubmission } from './outbox-store';
import { renderOutboxEntry } from './render-outbox-entry';

export function getOutboxEntry(
  deps: { database: Database },
  request: GetOutboxEntryRequest,
  context: CallContext,
): Promise<Document> {
  return deps.database.inTenant(context.principal.organizationId, (tx) =>
    outboxDocument(tx, context, request.id),
  );
}

export async function outboxDocument(
  tx: SqlExecutor,
  { principal }: CallContext,
  id: string,
): Promise<Document> {
  const row = await loadSubmission(tx, principal, id, false);
  const deliveries = await selectDeliveries(tx, principal.organizationId, [row.id]);
  const json = jsonBytes(renderOutboxEntry(row, deliveries));
  return { id: row.id, version: 0, json, replayed: false };
}
