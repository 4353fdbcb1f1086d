import { createGroupCommit } from '@dak/platform/group-commit';
import type { Database } from '@dak/platform/postgres';
import { OWNER_KEPT_MS } from '../../domains/domain';
import { createStorageQuota, type StorageQuota } from '../organizations/storage-quota';
import { addressLookup, type AddressLookup } from './address-lookup';
import { type DirectoryRow, lookupStatement } from './address-store';
import type { RecipientVerdict } from './recipient-verdict';

const MAX_KEPT = 10_000;

export interface AddressDirectory {
  /** What to answer to RCPT for this address. Rejects when the database does not answer. */
  resolve(address: string): Promise<RecipientVerdict>;
}

/**
 * The live mailboxes of the deployment by address, each in a domain that its organization owns. Found
 * mailboxes are kept for a second; misses are not kept, so that an address made through the API works
 * at once; a clock that is set back keeps nothing longer. Look-ups that meet while one is running share the next statement.
 */
export function createAddressDirectory(database: Database): AddressDirectory {
  const kept = new Map<string, { verdict: RecipientVerdict; until: number }>();
  const quota = createStorageQuota(database);
  const lookups = createGroupCommit<AddressLookup, RecipientVerdict>(
    async (group) => {
      const [rows] = await database.batchAsWorker([lookupStatement(group)]);
      const byIndex = new Map((rows as unknown as DirectoryRow[]).map((row) => [row.index, row]));
      return Promise.all(
        group.map(async (_, index): Promise<RecipientVerdict> => {
          const row = byIndex.get(index);
          return row === undefined ? { kind: 'unknown' } : verdictOf(row, quota);
        }),
      );
    },
    { maxItems: 200, concurrency: 2 },
  );

  return {
    async resolve(address) {
      const lookup = addressLookup(address);
      if (lookup === null) return { kind: 'unknown' };
      const key = lookup.exact[0]!;
      const known = kept.get(key);
      if (known !== undefined && known.until > performance.now()) return known.verdict;
      const askedAt = performance.now();
      const verdict = await lookups.submit(lookup);
      kept.delete(key);
      if (verdict.kind === 'deliver') {
        if (kept.size >= MAX_KEPT) kept.clear();
        kept.set(key, { verdict, until: askedAt + OWNER_KEPT_MS });
      }
      return verdict;
    },
  };
}

async function verdictOf(row: DirectoryRow, quota: StorageQuota): Promise<RecipientVerdict> {
  if (row.organization_id === null || row.id === null) {
    return row.is_contested
      ? { kind: 'deferred', text: 'It is not settled whose this domain is' }
      : { kind: 'unknown' };
  }
  if (row.organization_status !== 'active') return { kind: 'suspended' };
  if (row.status !== 'active') return { kind: 'disabled' };
  if (row.has_limit && (await quota.isFull(row.organization_id))) return { kind: 'over_quota' };
  return { kind: 'deliver', target: { organizationId: row.organization_id, mailboxId: row.id } };
}
