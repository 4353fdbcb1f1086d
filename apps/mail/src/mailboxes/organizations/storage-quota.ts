import { RefusedError } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { findRoom } from './storage-store';

/** How long a result is used: mail is still accepted this long after the limit is reached. */
const KEEP_MS = 1_000;
const MOST_KEPT = 10_000;

export interface StorageQuota {
  /** Whether the organization keeps as much as it may. */
  isFull(organizationId: string): Promise<boolean>;
  /** @throws RefusedError `storage_full` when these bytes do not fit */
  requireRoom(organizationId: string, bytes: number): Promise<void>;
}

/**
 * The limit on an organization's storage: its raw mail, and files uploaded for later
 * mail. Usage is the sum of tallies, queried at most once in {@link KEEP_MS}.
 */
export function createStorageQuota(database: Database): StorageQuota {
  const kept = new Map<string, { room: Promise<number>; until: number }>();
  const roomOf = (organizationId: string): Promise<number> => {
    const known = kept.get(organizationId);
    if (known !== undefined && known.until > performance.now()) return known.room;
    if (kept.size >= MOST_KEPT) kept.clear();
    const room = findRoom(database, organizationId);
    kept.set(organizationId, { room, until: performance.now() + KEEP_MS });
    room.catch(() => kept.delete(organizationId));
    return room;
  };
  return {
    isFull: async (organizationId) => (await roomOf(organizationId)) <= 0,
    async requireRoom(organizationId, bytes) {
      refuseBeyond(await roomOf(organizationId), bytes);
    },
  };
}

/** As {@link StorageQuota.requireRoom}, with current usage. @throws RefusedError `storage_full` */
export async function requireRoom(
  database: Database,
  organizationId: string,
  bytes: number,
): Promise<void> {
  refuseBeyond(await findRoom(database, organizationId), bytes);
}

function refuseBeyond(room: number, bytes: number): void {
  if (room > 0 && bytes <= room) return;
  throw new RefusedError(
    'The organization keeps as much mail as it may. Delete some, shorten the retention, or ask for more storage.',
    'storage_full',
  );
}
