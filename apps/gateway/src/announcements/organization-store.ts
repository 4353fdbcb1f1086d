import type { PutOrganizationRequest } from '@dak/contracts/tenant';
import { ANNOUNCED_AT_ONCE, type Announcement } from './announcer';

/** `firstDomains` is announced each time, heard the first time. */
type OrganizationState = Omit<PutOrganizationRequest, 'defaultFromName' | 'storageBytes'> & {
  defaultFromName: string | null;
  storageBytes: number | null;
};

const PENDING = `
  select id                as "organizationId",
         name, status, outgoing, version,
         time_zone         as "timeZone",
         default_from_name as "defaultFromName",
         storage_bytes     as "storageBytes",
         first_domains     as "firstDomains"
    from organization
   where announced_version <> version
     and ($1::uuid is null or id = $1)
   order by id
   limit ${ANNOUNCED_AT_ONCE}`;

const ANNOUNCED = `
  update organization
     set announced_version = $2
   where id = $1
     and announced_version < $2`;

export const ORGANIZATIONS: Announcement<OrganizationState> = {
  pending: PENDING,
  announced: ANNOUNCED,
  keyOf: ({ organizationId }) => [organizationId],
  announce: (directory, { defaultFromName, storageBytes, ...organization }, call) =>
    directory.putOrganization(
      {
        ...organization,
        ...(defaultFromName === null ? {} : { defaultFromName }),
        ...(storageBytes === null ? {} : { storageBytes }),
      },
      call,
    ),
};
