import { BLOB_REMOVAL_LOCK, type BlobReference, type BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import {
  findReferenced,
  findReferencedSince,
  forgetNoted,
  MOST_CANDIDATES,
  selectNoted,
} from './blob-reference-store';

/** Content set aside at the same time. */
const BATCH = 500;
const SHARDS = 256;

export interface SweepRequest {
  organizationId: string;
  /** Checks all stored content; otherwise only noted content, and one of {@link SHARDS} parts of the rest. */
  isWhole: boolean;
  now: number;
}

const HOUR_MS = 3_600_000;

/**
 * Removes unreferenced content: content noted when its last reference may have gone, and content that
 * a crash between storing it and its reference has left.
 */
export async function sweepBlobs(
  deps: { database: Database; blobs: BlobStore },
  { organizationId, isWhole, now }: SweepRequest,
): Promise<{ blobs: number; bytes: number; more: boolean }> {
  const { database, blobs } = deps;
  const noted = await database.inTenant(organizationId, (tx) => selectNoted(tx, organizationId));
  const shard = Math.floor(now / HOUR_MS) % SHARDS;
  const stored: string[] = [];
  for (const part of isWhole ? Array.from({ length: SHARDS }, (_, i) => i) : [shard]) {
    stored.push(...(await blobs.list(organizationId, part.toString(16).padStart(2, '0'))));
  }
  const candidates = [...new Set([...noted, ...stored])];
  const startedAt = Date.now();
  const kept = await findReferenced(database, organizationId, candidates);
  await blobs.putBack(organizationId, kept);
  const unused = candidates.filter((sha256) => !kept.has(sha256));
  const removed: BlobReference[] = [];
  let isFree = true;
  for (let at = 0; at < unused.length && isFree; at += BATCH) {
    const part = unused.slice(at, at + BATCH);
    isFree = await unlessBackedUp(database, async () => {
      removed.push(
        ...(await blobs.removeUnreferenced(organizationId, part, (aside) =>
          findReferencedSince(database, organizationId, aside, startedAt),
        )),
      );
    });
  }
  if (isFree) {
    await database.inTenant(organizationId, (tx) => forgetNoted(tx, organizationId, noted));
  }
  return {
    blobs: removed.length,
    bytes: removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    more: isFree && noted.length >= MOST_CANDIDATES,
  };
}

/** Removes blobs unless a backup copies them. @returns whether it did */
export function unlessBackedUp(database: Database, remove: () => Promise<void>): Promise<boolean> {
  return database.asWorker(async (tx) => {
    // Meanwhile nothing is asked of this connection.
    await tx.query(`select set_config('idle_in_transaction_session_timeout', '0', true)`);
    const { rows } = await tx.query<{ free: boolean }>(
      `select pg_try_advisory_xact_lock(${BLOB_REMOVAL_LOCK}) as free`,
    );
    if (!rows[0]!.free) return false;
    await remove();
    return true;
  });
}
