import type { BlobStore } from '@dak/platform/blobs';
import { createGroupCommit } from '@dak/platform/group-commit';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import type { SpoolEntry } from './spool-entry';
import { spoolInsert } from './spool-store';

/** Bytes up to which a message lies in its spool row; a larger one goes to the blob store first. */
export const MAX_INLINE_BYTES = 256 * 1024;

/** Rows and bytes of one insert. */
const GROUP_ROWS = 512;
const GROUP_BYTES = 8 * 1024 * 1024;

export interface Spool {
  /**
   * Resolves when the entries are durable: all of them, or none and the promise rejects.
   * @param onPlaced called once their bytes lie in the blob store and are not needed in memory any more; not for
   * small ones, which go into the row
   */
  append(entries: readonly SpoolEntry[], onPlaced?: () => void): Promise<void>;
  /** Resolves when nothing waits and nothing is being written. Never rejects. */
  idle(): Promise<void>;
}

export interface SpoolOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  /** Called with the number of entries that became durable, so that the pipeline need not wait for its next poll. */
  readonly onAppended?: (entries: number) => void;
}

/**
 * The durable queue in front of the pipeline. Whatever arrives while one insert is on its way goes
 * into the next one: one flush of the write-ahead log makes bytes and rows of all of them durable.
 * One insert at a time: two overlapping ones carry half as much each, and on two cores that costs more
 * than the overlap gains.
 */
export function createSpool({ database, blobs, onAppended }: SpoolOptions): Spool {
  const commit = createGroupCommit<readonly SpoolEntry[], void>(
    async (groups) => {
      const entries = groups.flat();
      if (entries.some(({ rawSha256 }) => rawSha256 !== null)) {
        await database.asWorker(async (tx) => {
          await appendToSpool(tx, entries);
          requireContent(blobs, entries);
        });
      } else {
        await database.batchAsWorker([spoolInsert(entries)]);
      }
      onAppended?.(entries.length);
      return groups.map(() => undefined);
    },
    {
      maxItems: GROUP_ROWS,
      maxBytes: GROUP_BYTES,
      size: (entries) => entries.reduce((sum, entry) => sum + (entry.raw?.byteLength ?? 0), 0),
    },
  );
  return {
    append(entries, onPlaced) {
      if (entries.length === 0) return Promise.resolve();
      if (!entries.some(isLarge)) return commit.submit(entries);
      // Nothing here may hold the given entries while the database lets the rows wait: their bytes are large.
      return Promise.all(entries.map((entry) => placeLarge(blobs, entry))).then((placed) => {
        if (placed.every(({ raw }) => raw === null)) onPlaced?.();
        return commit.submit(placed);
      });
    },
    idle: () => commit.idle(),
  };
}

/**
 * Appends inside the caller's transaction, so that the entries appear with its other effects or not
 * at all. Entries above {@link MAX_INLINE_BYTES} must name their blob: no blob is written in a transaction.
 */
export async function appendToSpool(
  tx: SqlExecutor,
  entries: readonly SpoolEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { text, values } = spoolInsert(entries);
  await tx.query(text, values);
}

/** To be called after {@link appendToSpool}, see {@link BlobStore.requirePresent}. */
export function requireContent(
  blobs: Pick<BlobStore, 'requirePresent'>,
  entries: readonly SpoolEntry[],
): void {
  for (const { organizationId, rawSha256 } of entries) {
    if (rawSha256 !== null) blobs.requirePresent(organizationId, [rawSha256]);
  }
}

function isLarge(entry: SpoolEntry): boolean {
  return entry.raw !== null && entry.raw.byteLength > MAX_INLINE_BYTES;
}

/** The entry with large bytes moved to the blob store. */
export async function placeLarge(blobs: BlobStore, entry: SpoolEntry): Promise<SpoolEntry> {
  if (entry.raw === null || !isLarge(entry)) return entry;
  const { sha256 } = await blobs.put(entry.organizationId, entry.raw);
  return { ...entry, raw: null, rawSha256: sha256 };
}
