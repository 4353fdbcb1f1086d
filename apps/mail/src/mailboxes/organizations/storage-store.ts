import type { Database } from '@dak/platform/postgres';

const ROOM = `
  select case when o.storage_bytes is not null
              then o.storage_bytes
                   - coalesce((select sum(t.size_bytes) from conversation_tally t
                                where t.organization_id = o.organization_id), 0)
                   - coalesce((select sum(u.size_bytes) from upload u
                                where u.organization_id = o.organization_id), 0)
         end::float8 as bytes
    from organization o
   where o.organization_id = $1`;

/** Bytes; infinite without a limit. */
export async function findRoom(database: Database, organizationId: string): Promise<number> {
  const [rows = []] = await database.batchInTenant(organizationId, [
    { name: 'storage_room', text: ROOM, values: [organizationId] },
  ]);
  const [found] = rows as { bytes: number | null }[];
  return found?.bytes ?? Infinity;
}
