import type { PutOrganizationRequest } from '@dak/contracts/tenant';
import type { SqlExecutor } from '@dak/platform/postgres';

const SAVE = `
  update organization
     set time_zone         = $2,
         default_from_name = $3,
         storage_bytes     = $4,
         outgoing          = coalesce($5, outgoing)
   where organization_id = $1`;

/** What only mail needs to know of an organization, beside what every service stores; the counters of the row stay. */
export async function saveMailSettings(
  tx: SqlExecutor,
  organization: PutOrganizationRequest,
): Promise<void> {
  await tx.query(SAVE, [
    organization.organizationId,
    organization.timeZone || 'UTC',
    organization.defaultFromName ?? null,
    organization.storageBytes ?? null,
    organization.outgoing === '' ? null : organization.outgoing,
  ]);
}
