import type { PutOrganizationRequest } from '@dak/contracts/mail';
import type { SqlExecutor } from '@dak/platform/postgres';

const KNOWN = `
  select version
    from organization
   where organization_id = $1
     for update`;

const SAVE = `
  insert into organization as o
         (organization_id, name, status, time_zone, default_from_name, version, updated_at, storage_bytes,
          outgoing)
  values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, 'run'))
  on conflict (organization_id)
  do update set name              = excluded.name,
                status            = excluded.status,
                time_zone         = excluded.time_zone,
                default_from_name = excluded.default_from_name,
                version           = excluded.version,
                updated_at        = excluded.updated_at,
                storage_bytes     = excluded.storage_bytes,
                outgoing          = coalesce($9, o.outgoing)
          where o.version < excluded.version`;

/**
 * An older announcement than the known one changes nothing; the counters of the row stay.
 * @returns whether it is the first that was heard of the organization
 */
export async function saveOrganization(
  tx: SqlExecutor,
  organization: PutOrganizationRequest,
  now: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{ version: number }>(KNOWN, [organization.organizationId]);
  await tx.query(SAVE, [
    organization.organizationId,
    organization.name,
    organization.status,
    organization.timeZone || 'UTC',
    organization.defaultFromName ?? null,
    organization.version,
    now,
    organization.storageBytes ?? null,
    organization.outgoing === '' ? null : organization.outgoing,
  ]);
  return rows.every(({ version }) => version === 0);
}
