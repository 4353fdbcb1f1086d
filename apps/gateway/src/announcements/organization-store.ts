import { ANNOUNCED_AT_ONCE, type Announcement } from './announcer';

/** What the services have to know of an organization. */
export interface OrganizationState {
  organizationId: string;
  name: string;
  status: string;
  outgoing: 'run' | 'hold';
  timeZone: string;
  defaultFromName: string | null;
  /** Of mail that may be kept; null = no limit. */
  storageBytes: number | null;
  /** What it owns from its beginning; told each time, heard the first time. */
  firstDomains: string[];
  /** Grows with every change. */
  version: number;
}

export type AnnounceOrganization = (state: OrganizationState) => Promise<void>;

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

export function organizationAnnouncement(
  announce: AnnounceOrganization,
): Announcement<OrganizationState> {
  return {
    pending: PENDING,
    announced: ANNOUNCED,
    keyOf: ({ organizationId }) => [organizationId],
    announce,
  };
}
