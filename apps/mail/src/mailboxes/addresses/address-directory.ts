import { createGroupCommit } from '@dak/platform/group-commit';
import type { Database, PreparedStatement } from '@dak/platform/postgres';
import { OWNER_KEPT_MS } from '../../domains/domain';
import { createStorageQuota, type StorageQuota } from '../organizations/storage-quota';
import { addressLookup, type AddressLookup } from './address-lookup';
import type { RecipientVerdict } from './recipient-verdict';

const MAX_KEPT = 10_000;

export interface AddressDirectory {
  /** What to answer to RCPT for this address. Rejects when the database does not answer. */
  resolve(address: string): Promise<RecipientVerdict>;
}

interface DirectoryRow {
  index: number;
  organization_id: string | null;
  id: string | null;
  status: string | null;
  organization_status: string | null;
  has_limit: boolean | null;
  is_contested: boolean;
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

/**
 * Within the organization that owns the domain: the exact address before the one without detail before
 * the oldest mailbox of the domain, for its postmaster.
 */
function lookupStatement(group: readonly AddressLookup[]): PreparedStatement {
  return {
    name: 'directory_lookup',
    text: `
      select wanted.index, found.*,
             case when found.id is null
                  then exists (select from domain c where c.name = any(wanted.domains) and c.is_contested)
                       and not exists (select from domain d where d.name = any(wanted.domains) and d.status = 'verified')
                  else false end as is_contested
        from json_to_recordset($1::json)
             as wanted(index integer, exact text[], without_detail text[], domains text[], postmaster_domains text[])
        left join lateral (
               select m.organization_id, m.id, m.status, coalesce(o.status, 'active') as organization_status,
                      o.storage_bytes is not null as has_limit
                 from (select m.*, 0 as rank from mailbox m
                        where m.address = any(wanted.exact) and m.deleted_at is null
                       union all
                       select m.*, 1 from mailbox m
                        where m.address = any(wanted.without_detail) and m.deleted_at is null
                          and coalesce((m.settings ->> 'plus_addressing')::boolean, true)
                       union all
                       select m.*, 2 from mailbox m
                        where split_part(m.address, '@', 2) = any(wanted.postmaster_domains) and m.deleted_at is null) m
                 join domain d on d.organization_id = m.organization_id and d.status = 'verified'
                              and d.name = split_part(m.address, '@', 2)
                 left join organization o on o.organization_id = m.organization_id
                order by m.rank, m.created_at, m.id
                limit 1) found on true`,
    values: [
      JSON.stringify(
        group.map((lookup, index) => ({
          index,
          exact: lookup.exact,
          without_detail: lookup.withoutDetail,
          domains: lookup.domains,
          postmaster_domains: lookup.postmasterDomains,
        })),
      ),
    ],
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
