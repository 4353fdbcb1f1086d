import { DomainError, InvalidError, RefusedError, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import { requireRoom } from '../../mailboxes/organizations/storage-quota';
import { appendToSpool, placeLarge, requireContent } from '../../spool/spool';
import { spoolEntry, type SpoolEntry } from '../../spool/spool-entry';
import type { ImportedMessage, ImportItem } from './import-item';
import { addReceived, endReceiving, type ImportFailure } from './import-store';

/** Messages and octets of one transaction. */
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

export interface ReceiveImportDeps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Called when messages are in the spool. */
  readonly onSpooled: () => void;
}

export interface ImportTarget {
  readonly importId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly mailboxAddress: string;
}

/**
 * Spools the messages of a stream as they arrive, in bounded memory. Spooled messages
 * stay when the stream breaks off; sending the same file again stores the missing ones.
 * @throws InvalidError when not one message could be read
 */
export async function receiveImport(
  deps: ReceiveImportDeps,
  target: ImportTarget,
  items: AsyncIterable<ImportItem>,
): Promise<void> {
  const { database } = deps;
  const { organizationId, importId } = target;
  let index = 0;
  let bytes = 0;
  let messages: { item: ImportedMessage; index: number }[] = [];
  let failures: ImportFailure[] = [];

  const flush = async () => {
    const received = messages.length + failures.length;
    if (received === 0) return;
    await requireRoom(database, organizationId, bytes);
    const now = new Date(deps.clock());
    const entries: SpoolEntry[] = [];
    for (const one of messages) {
      entries.push(await placeLarge(deps.blobs, entryOf(target, one.item, one.index, now)));
    }
    await database.inTenant(organizationId, async (tx) => {
      await appendToSpool(tx, entries);
      requireContent(deps.blobs, entries);
      await addReceived(tx, organizationId, importId, received, failures);
    });
    messages = [];
    failures = [];
    bytes = 0;
    deps.onSpooled();
  };

  let broken: Error | null = null;
  try {
    for await (const item of items) {
      if ('failure' in item) failures.push({ index, reason: item.failure });
      else {
        messages.push({ item, index });
        bytes += item.raw.byteLength;
      }
      index += 1;
      if (messages.length + failures.length >= BATCH_MESSAGES || bytes >= BATCH_BYTES)
        await flush();
    }
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
  }
  try {
    // What did not fit before does not fit now.
    if (!(broken instanceof RefusedError)) await flush();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    broken = error;
  }
  const failure = broken === null ? null : { index, reason: reasonOf(broken) };
  await database.inTenant(organizationId, (tx) =>
    endReceiving(tx, organizationId, importId, failure),
  );
  if (broken !== null && (index === 0 || !(broken instanceof InvalidError))) throw broken;
}

function entryOf(
  target: ImportTarget,
  item: ImportedMessage,
  index: number,
  now: Date,
): SpoolEntry {
  const arrivedAt = item.arrivedAt ?? now;
  return spoolEntry({
    organizationId: target.organizationId,
    mailboxId: target.mailboxId,
    source: 'import',
    recipient: target.mailboxAddress,
    raw: item.raw,
    receivedAt: arrivedAt < now ? arrivedAt : now,
    importId: target.importId,
    importIndex: index,
    unread: item.unread,
    labels: item.labels,
  });
}

function reasonOf(error: unknown): string {
  return error instanceof DomainError
    ? error.message
    : 'The stream broke off. Send the same file again: what is stored already is recognized.';
}
