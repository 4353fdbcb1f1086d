import type { PreparedStatement } from '@dak/platform/postgres';
import type { AddressLookup } from './address-lookup';

export interface DirectoryRow {
  index: number;
  organization_id: string | null;
  id: string | null;
  status: string | null;
  organization_status: string | null;
  has_limit: boolean | null;
  is_contested: boolean;
}

/**
 * Within the organization that owns the domain: the exact address before the one without detail before
 * the oldest mailbox of the domain, for its postmaster.
 */
export function lookupStatement(group: readonly AddressLookup[]): PreparedStatement {
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
